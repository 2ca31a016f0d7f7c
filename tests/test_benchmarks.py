"""The benchmarks compare like with like, and run."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import bfloat16 as bfloat16_benchmark  # noqa: E402
import both_ways  # noqa: E402
import contenders  # noqa: E402
import crf as crf_benchmark  # noqa: E402
import table  # noqa: E402
import tagging as tagging_benchmark  # noqa: E402
from measure import Timing, busy_processes, interleaved, peak_memory  # noqa: E402

import engine as engine_benchmark  # noqa: E402
from cellwright.cell.listings import nas_bench_nlp  # noqa: E402
from cellwright.engine import native_backend  # noqa: E402
from cellwright.tasks.registry import open_task  # noqa: E402
from cellwright.tasks.tagging.settings import TaggingSettings  # noqa: E402

needs_core = pytest.mark.skipif(not native_backend.available(), reason="the core is not built")


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("shape", [(3, 5, 8), (6, 3, 17)])
@pytest.mark.parametrize("name", contenders.SUBJECTS)
def test_a_plain_loop_computes_what_the_engine_computes(name, shape):
    subject = contenders.SUBJECTS[name]()
    assert contenders.same_as_engine(subject, contenders.Shape(*shape)) < 1e-9


def test_a_loop_that_computes_something_else_is_found():
    gru = contenders.SUBJECTS["gru"]()

    class Wrong(contenders.GruLoop):
        def step(self, x, states, alpha):
            (h,) = super().step(x, states, alpha)
            return (h * 1.01,)

    wrong = contenders.Subject(gru.cell, Wrong)
    with pytest.raises(contenders.UnequalError, match="gru at 3,2,8: output"):
        contenders.same_as_engine(wrong, contenders.Shape(3, 2, 8))


def test_the_large_nas_bench_nlp_cell_is_one_of_that_space():
    recipe = contenders.NAS_BENCH_NLP_24
    cell = nas_bench_nlp.lower(recipe)
    assert len(recipe) == len(cell.nodes) == len(cell.simplified().nodes) == 24
    assert len(cell.states) == 3
    activations = {name for name, node in recipe.items() if node["op"].startswith("activation")}
    states = {f"h_prev_{i}" for i in range(3)}
    for node in recipe.values():
        if node["op"] == "linear":
            assert 2 <= len(node["input"]) <= 3
            assert set(node["input"]) <= {"x", *states, *activations}
        else:
            assert "x" not in node["input"]
        if node["op"].startswith("activation"):
            assert [recipe[name]["op"] for name in node["input"]] == ["linear"]


@pytest.mark.skipif(
    not native_backend.available("bfloat16"), reason="the core has no bfloat16 on this processor"
)
def test_bfloat16_is_measured_with_its_error():
    options = bfloat16_benchmark.parse(["--shapes", "3,2,8", "--seconds", "0", "--cells", "lstm"])
    rows = [*bfloat16_benchmark.measured(options)]
    assert [row.what for row in rows] == ["train", "infer"]
    for row in rows:
        for single, half in zip(row.errors["float32"], row.errors["bfloat16"], strict=True):
            assert single < 1e-6 < half < 0.02
        assert len(bfloat16_benchmark.cells_of(row)) == len(bfloat16_benchmark.HEADER)


def test_contenders_take_turns():
    order = []

    def contender(name, seconds):
        def once():
            order.append(name)
            return seconds.pop(0) if len(seconds) > 1 else seconds[0]

        return once

    runs = {"a": contender("a", [9.0, 3.0, 2.0, 2.0]), "b": contender("b", [9.0, 5.0])}
    found = interleaved(runs, seconds=0, least=2)
    assert order[:2] == ["a", "b"]
    assert order.index("b", 2) < len(order) - 1 - order[::-1].index("a")
    assert (found["a"].best, found["b"].best) == (2.0, 5.0)  # the first run does not count


def test_peak_memory_sees_what_was_freed():
    assert peak_memory(lambda: len(b"x" * 200_000_000)) > 150_000_000


def row(cell: str, shape: tuple[int, int, int], kind: str = "alone", **peak: int) -> table.Row:
    seconds = {"ours": 0.1, "nn.LSTM": 0.12, "plain": 0.4, "torch": 0.8, "matrix product": 0.2}
    timings = {name: Timing(best, best**2, 3) for name, best in seconds.items()}
    what = "infer" if shape[1] == 1 else "train"
    return table.Row(cell, contenders.Shape(*shape), what, 4e9, timings, peak, kind)


def test_the_summary_states_what_was_wanted_and_what_was_measured():
    rows = [
        row("lstm", (35, 64, 300)),
        row("darts-v1", (35, 20, 200)),
        row("darts-supernet", (35, 64, 300), ours=300, plain=1200),
        row("ess-supernet", (35, 256, 300)),
        row("darts-v1", (35, 16, 64)),
        row("lstm", (35, 20, 200), "load"),
        row("darts-v1", (35, 20, 200), "load"),
        row("lstm", (15, 32, 256), "sentences"),
        row("lstm", (15, 1, 256), "sentences"),
        row("darts-v1", (15, 32, 256), "sentences"),
    ]
    assert list(table.summary(rows)) == [
        "lstm against nn.LSTM, geometric mean over 1 shape: at least 1.15 wanted: 1.20",
        "lstm against nn.LSTM, at each shape: at least 1.1 wanted: 1.20 at 35,64,300",
        "darts-v1 against the plain loop at 35,20,200: at least 4 wanted: 4.00",
        "darts-v1 against the plain loop at 35,16,64: at least 6 wanted: 4.00",
        "darts-supernet against the plain loop at 35,64,300: at least 3 wanted: 4.00",
        "darts-supernet's memory over the plain loop's at 35,64,300: at most 0.33 wanted: 0.25",
        "darts-v1's share of the limit at 35,20,200: at least 75 % wanted: 47 %",
        "darts-supernet's share of the limit at 35,64,300: at least 80 % wanted: 47 %",
        "ess-supernet's share of the limit at 35,256,300: at least 65 % wanted: 47 %",
        "under load: lstm against nn.LSTM, at each shape: at least 1 wanted: 1.44 at 35,20,200",
        "under load: darts-v1 against the plain loop, at each shape: at least 1 wanted: "
        "16.0 at 35,20,200",
        "training on sentences: lstm against nn.LSTM, at each shape: at least 1.3 wanted: "
        "1.20 at 15,32,256",
        "training on sentences: darts-v1 against the plain loop, at each shape: at least 5 wanted: "
        "4.00 at 15,32,256",
        "one sentence at a time: lstm against nn.LSTM, at each shape: at least 1.5 wanted: "
        "1.20 at 15,1,256",
    ]


def test_busy_processes_end_whatever_happens():
    seen = []

    def interrupted():
        with busy_processes() as busy:
            seen.extend(busy)
            assert [process.poll() for process in busy] == [None] * 4
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [process.poll() for process in seen] == [-signal.SIGKILL] * 4


@needs_core
def test_a_loop_in_both_directions_that_computes_something_else_is_found(monkeypatch):
    shape = contenders.Shape(6, 4, 8)
    assert sorted(both_ways.lengths_of(shape)) != [6, 6, 6, 6]

    def turned_at_the_end_of_the_batch(self, x, alpha=None):
        inside = torch.arange(len(x))[:, None] < self.lengths
        both = self.forwards(x), self.backwards(x.flip(0)).flip(0)
        return torch.cat(both, dim=-1) * inside[..., None]

    both_ways.same_sentences("darts-v1", shape)
    monkeypatch.setattr(both_ways.PlainBothWays, "forward", turned_at_the_end_of_the_batch)
    with pytest.raises(contenders.UnequalError, match="both directions at 6,4,8: output of plain"):
        both_ways.same_sentences("darts-v1", shape)


@needs_core
@pytest.mark.parametrize("kind", ["load", "sentences"])
def test_engine_measures_under_load_and_on_sentences(kind, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("measure.SLOT", 0.0)
    monkeypatch.setattr("measure.PRODUCT", 8)
    monkeypatch.setattr("measure.BUSY_NICENESS", (19,))
    shapes = ["3,2,8"] if kind == "load" else ["3,2,8", "3,1,8"]
    given = [f"--{kind}", "--shapes", *shapes, "--seconds", "0", "--json", str(tmp_path / "kept")]
    assert engine_benchmark.main(given) == 0
    measured = capsys.readouterr().out
    lines = [line.split()[:3] for line in measured.splitlines()]
    for cell in ("lstm", "darts-v1"):
        for what in ("train", "infer"):
            assert [cell, "3,2,8", what] in lines
    assert (["lstm", "3,1,8", "infer"] in lines) == (kind == "sentences")
    assert ["lstm", "3,1,8", "train"] not in lines
    assert ("medians count in place of best times" in measured) == (kind == "load")
    assert engine_benchmark.main(["--from", str(tmp_path / "kept")]) == 0
    assert capsys.readouterr().out == measured


@needs_core
def test_engine_prints_every_column_and_keeps_the_numbers(tmp_path):
    kept = tmp_path / "kept.json"
    done = run(
        "engine.py", "--cells", "lstm", "darts-supernet", "--shapes", "3,5,8",
        "--seconds", "0.05", "--no-memory", "--json", str(kept),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for column in table.COLUMNS:
        assert column in done.stdout
    lines = [line.split()[:3] for line in done.stdout.splitlines()]
    for cell in ("lstm", "darts-supernet"):
        for what in ("train", "infer"):
            assert [cell, "3,5,8", what] in lines
    assert "geometric mean over 1 shape" in done.stdout
    rows = json.loads(kept.read_text(encoding="utf-8"))["rows"]
    assert all(timing["runs"] >= 3 for row in rows for timing in row["timings"].values())
    again = run("engine.py", "--from", str(kept), "--markdown", "--only", "train")
    assert again.stdout.count("| 3,5,8 | train |") == again.stdout.count("| 3,5,8 |") == 2


def test_engine_names_a_wrong_shape():
    done = run("engine.py", "--shapes", "35,64")
    assert done.returncode == 2
    assert "a shape is T,B,H, such as 35,64,300, not '35,64'" in done.stderr


@needs_core
def test_first_gradient_prints_a_line_for_each_cell():
    done = run("first_gradient.py", "--shape", "3,2,8", "--fresh", "1")
    assert done.returncode == 0, done.stderr
    for cell in ("lstm", "darts-v1", "nas-bench-nlp-24", "random enas"):
        assert f"\n{cell} " in done.stdout


@needs_core
def test_peak_memory_prints_bytes():
    done = run("peak_memory.py", "gru", "plain", "3,2,8")
    assert int(done.stdout) >= 0, done.stderr


@needs_core
@pytest.mark.parametrize("options", [[], ["--forbidden"]])
def test_crf_compares_before_it_measures(options, monkeypatch, capsys):
    monkeypatch.setattr("torch.set_num_threads", lambda threads: None)
    monkeypatch.setattr(crf_benchmark, "CRF", None)
    monkeypatch.setattr("measure.SLOT", 0.0)
    small = ["--batch", "2", "--shortest", "2", "--longest", "3", "--tags", "4", "--seconds", "0"]
    crf_benchmark.main([*small, *options])
    printed = capsys.readouterr().out
    assert "pip install --no-deps pytorch-crf" in printed
    assert "2 sentences of 2 to 3 steps, 4 tags, threads: 1" in printed


@needs_core
def test_a_crf_that_computes_something_else_is_found():
    given = crf_benchmark.sentences(2, 2, 3, 4, forbidden=False)
    found = {name: crf_benchmark.of_cellwright(given, "torch") for name in ("native core", "wrong")}
    wrong = found["wrong"]
    found["wrong"] = wrong._replace(loss=lambda: 1.01 * wrong.loss())
    with pytest.raises(SystemExit, match="wrong has another loss"):
        crf_benchmark.check_equal(given, found)
    found["wrong"] = wrong._replace(paths=list)
    with pytest.raises(SystemExit, match="wrong finds other best paths"):
        crf_benchmark.check_equal(given, found)


def test_taggers_are_measured_without_flair_as_well(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("torch.set_num_threads", lambda threads: None)
    monkeypatch.setattr("measure.PRODUCT", 8)
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(tmp_path / "cache"))
    rows = "Ann B-PER\nlives O\nin O\nNew B-LOC\nYork I-LOC\n\nBob B-PER\nleft O\n\n"
    for part in ("train", "valid", "test"):
        (tmp_path / f"{part}.txt").write_text(rows * 20)
    (tmp_path / "vectors.txt").write_text("ann 1 2\nlives 3 4\n")
    given = ["--data", str(tmp_path), "--vectors", str(tmp_path / "vectors.txt"), "--hidden", "4"]
    tagging_benchmark.main([*given, "--batches", "1", "--rounds", "1", "--cells", "gru"])
    printed = capsys.readouterr().out
    assert "without --flair there is nothing to compare with" in printed
    assert "1 of 2 batches of 32 sentences, best of 1 rounds, extrapolated" in printed
    for work in ("training", "prediction"):
        assert any(work in line and "gru" in line for line in printed.splitlines())


def test_each_batch_counts_with_its_best_round():
    rounds = [[(3.0, 1.0), (1.0, 0.5)], [(2.0, 1.5), (4.0, 0.25)]]
    assert tagging_benchmark.best_of(rounds) == (3.0, 1.25)


def test_flair_is_given_words_and_spans(tmp_path, monkeypatch):
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(tmp_path / "cache"))
    for part in ("train", "valid", "test"):
        (tmp_path / f"{part}.txt").write_text("Ann B-PER\nleft O\nNew B-LOC\nYork I-LOC\n")
    task = open_task(TaggingSettings(data=str(tmp_path), embeddings=("table",)))
    [batch] = task.ordered("train", 1)
    [(words, spans)] = tagging_benchmark.as_texts(task, batch)
    assert words == ["Ann", "left", "New", "York"]
    assert spans == [("PER", 0, 1), ("LOC", 2, 4)]
