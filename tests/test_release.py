"""What is shipped with the package: its version, its wheels, and what people read around it."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

import pytest

import cellwright

ROOT = Path(__file__).parents[1]

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_the_version_is_said_in_one_place():
    version = PROJECT["project"]["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.?(dev|a|b|rc)\d+)?", version)
    assert cellwright.__version__ == version
    said = [
        path
        for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.md"), ROOT / "CITATION.cff"]
        if re.search(rf"\b{re.escape(version)}\b", path.read_text("utf-8"))
    ]
    assert said == []


def test_the_changelog_has_a_place_for_changes_and_no_version_twice():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)
    assert versions[0] == "Unreleased"
    assert len(set(versions)) == len(versions)


def test_every_form_for_people_is_read_by_programs():
    yaml = pytest.importorskip("yaml")
    forms = [
        *ROOT.glob(".github/**/*.yml"),
        ROOT / ".pre-commit-config.yaml",
        ROOT / "CITATION.cff",
    ]
    assert len(forms) >= 7
    found = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in forms}
    citation = found["CITATION.cff"]
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["license"] == PROJECT["project"]["license"]["text"]
    for name in ("bug.yml", "idea.yml", "result.yml"):
        fields = found[name]["body"]
        assert len({field["id"] for field in fields}) == len(fields)
    for flow in ("ci.yml", "wheels.yml"):
        for job in found[flow]["jobs"].values():
            for step in job["steps"]:
                for script in re.findall(r"(?<![\w/])\.ci/[\w.]+", step.get("run", "")):
                    assert (ROOT / script).is_file(), script
                for target in re.findall(r"make ([a-z -]+)$", step.get("run", "")):
                    for one in target.split():
                        assert re.search(rf"^{one}:", (ROOT / "Makefile").read_text(), re.M), one


def test_the_check_of_a_wheel_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    import five_lines

    from cellwright.engine import native_backend

    code = five_lines.first_python((ROOT / "README.md").read_text("utf-8"))
    assert code.count("\n") <= 7
    assert "cw.Recurrent" in code
    monkeypatch.setattr(sys, "argv", ["five_lines.py", str(ROOT / "README.md"), "--native"])
    if native_backend.available():
        five_lines.main()
        assert (
            f"cellwright {cellwright.__version__} runs on the native core"
            in capsys.readouterr().out
        )
    monkeypatch.setattr(native_backend, "_native", None)
    with pytest.raises((SystemExit, UserWarning, RuntimeWarning)):
        five_lines.main()
    sys.argv.pop()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        five_lines.main()  # without a core it runs as well, if none is asked for
    assert "runs on whatever engine there is" in capsys.readouterr().out
    (tmp_path / "none.md").write_text("text\n")
    with pytest.raises(SystemExit, match="no Python"):
        five_lines.first_python("text\n")
