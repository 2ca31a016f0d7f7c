"""The language model's benchmark compares like with like, and runs."""

import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import language_model  # noqa: E402
import plain_language_model  # noqa: E402
import training_step  # noqa: E402
from contenders import Shape, UnequalError  # noqa: E402
from measure import PRODUCT_FLOPS, Timing  # noqa: E402

from cellwright.engine import native_backend  # noqa: E402
from cellwright.models import OneLayerSettings  # noqa: E402

needs_core = pytest.mark.skipif(not native_backend.available(), reason="the core is not built")
TEXT = training_step.running_text(Shape(5, 4, 12), 40)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / "language_model.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("options", [plain_language_model.NO_DROPOUT, {}], ids=["plain", "dropout"])
@pytest.mark.parametrize("cell", ["darts-v1", "enas", "lstm", "gru", "nbnlp-gru"])
def test_the_plain_model_computes_what_ours_computes(cell, options):
    settings = OneLayerSettings(hidden=12, ar=1.0, tar=1.0, **options)
    tokens = TEXT.rows[:6]
    assert plain_language_model.same_as_plain(cell, settings, tokens, 40) < 1e-5


def test_a_model_that_computes_something_else_is_found(monkeypatch):
    monkeypatch.setattr(plain_language_model, "_locked", lambda x, rate: 1.01 * x)
    settings = OneLayerSettings(hidden=12, **plain_language_model.NO_DROPOUT)
    with pytest.raises(UnequalError, match=r"lstm: .* of the plain language model and of ours"):
        plain_language_model.same_as_plain("lstm", settings, TEXT.rows[:6], 40)


def test_segments_are_running_text_from_the_start_once_done():
    segments = TEXT.segments(5)
    count = (len(TEXT.rows) - 1) // 5
    read = [next(segments) for _ in range(count + 1)]
    assert torch.equal(torch.cat([tokens for tokens, _ in read[:count]]), TEXT.rows[:-1])
    assert torch.equal(torch.cat([targets for _, targets in read[:count]]), TEXT.rows[1:])
    assert torch.equal(read[count][0], read[0][0])


@pytest.mark.parametrize("contender", training_step.CONTENDERS)
def test_a_step_changes_every_weight_by_clipped_gradients(contender):
    training = training_step.Training(contender, "gru", Shape(5, 4, 12), TEXT)
    parameters = list(training.model.parameters())
    before = [parameter.detach().clone() for parameter in parameters]
    assert math.isfinite(training.step())
    changes = [new.detach() - old for old, new in zip(before, parameters, strict=True)]
    assert all(bool(change.any()) for change in changes)
    moved = torch.cat([change.flatten() for change in changes]).norm().item()
    assert moved <= 1.001 * training_step.LEARNING_RATE * training_step.CLIP
    assert not any(bool(grad.isnan().any()) for grad in (p.grad for p in parameters))


def test_the_summary_states_what_was_wanted_and_what_was_measured():
    product = Timing(0.5, 0.5, 3)
    rows = [
        language_model.Row("darts-v1", name, 100, 2 * PRODUCT_FLOPS, Timing(*times), product, None)
        for name, times in {"ours": (2.0, 2.0, 3), "plain": (5.0, 5.0, 3)}.items()
    ]
    assert list(language_model.summary(rows, Shape(35, 64, 300))) == [
        "darts-v1, times as fast as the plain model: at least 1.8 wanted: 2.50",
        "darts-v1, share of the limit (1000 ms): at least 0.45 wanted: 0.50",
    ]
    assert list(language_model.summary(rows, Shape(35, 64, 200))) == []


def test_the_table_says_when_the_torch_backend_stands_in_for_a_loop(capsys):
    timing = Timing(0.01, 0.01, 3)
    language_model.report(
        [
            language_model.Row("sentpair-1", name, 100, PRODUCT_FLOPS, timing, timing, 2_000_000)
            for name in ("ours", "plain")
        ],
        as_markdown=True,
    )
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| sentpair-1 | ours | 10.0 | 10,000 |  | 100 | 2 |",
        "| sentpair-1 | torch backend | 10.0 | 10,000 | 1.00× | 100 | 2 |",
    ]


@needs_core
def test_it_prints_a_line_for_each_contender():
    done = run(
        "--quick", "--shape", "3,2,8", "--vocabulary", "30", "--threads", "1", "--seconds", "0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for column in language_model.COLUMNS:
        assert column in done.stdout
    for contender in training_step.CONTENDERS:
        assert ["darts-v1", contender] in [line.split()[:2] for line in done.stdout.splitlines()]
    assert "random text of 30 words, T,B,H 3,2,8" in done.stdout


def test_wrong_options_are_named():
    done = run("--vocabulary", "0")
    assert done.returncode == 2
    assert "--vocabulary must be at least 1" in done.stderr
