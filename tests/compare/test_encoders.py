"""Encoders: who is compared, and what is made of the figures."""

from __future__ import annotations

import dataclasses
import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.compare.encoders.correlation import correlation
from cellwright.compare.encoders.encoder import Encoder, load_encoders
from cellwright.compare.encoders.entrants import Entrants
from cellwright.compare.encoders.figures import (
    AVERAGE,
    FLAT,
    EncoderFigures,
    Measure,
    as_json,
    flat_mean,
)
from cellwright.compare.encoders.folder import check_encoders, write_encoders
from cellwright.compare.encoders.suites import encoder_suite
from cellwright.compare.results import Standing
from cellwright.compare.suites.figures import SuiteFigures, TaskFigures, average
from cellwright.compare.suites.suite import Suite, SuiteTask
from cellwright.models.sentences.settings import BiRnnSettings
from cellwright.report.encoders.tables import caption, each_run, over_runs, ranked
from cellwright.report.encoders.words import outcome
from cellwright.report.tables import to_csv, to_markdown
from cellwright.runs.errors import RunError
from cellwright.runs.recipes import load_recipe
from cellwright.tasks.metric import Metric
from cellwright.tasks.sentences import glue_score
from compare.figures import plan_of, standing
from tiny_models import tiny_run

ACCURACY = Metric.model_validate({"name": "accuracy", "form": "percent"})


def encoder(label: str, perplexity: float, text: str = "t", cell: str = "gru") -> Encoder:
    loss = math.log(perplexity)
    return Encoder(label, f"/runs/{label}", label, cw.zoo[cell], text, text, 6, 9, 1, loss, loss)


# -- figures ---------------------------------------------------------------------------------------

MRPC = {"a": (70, 0.8), "b": (60, 0.7), "c": (80, 0.6), "bow": (70, 0.72), "lstm": (90, 0.9)}
RTE = {"a": (50, 52), "b": (60, 64), "c": (55, 55), "bow": (40, 44), "lstm": (90, 90)}
"""The accuracy of MRPC from one seed, and its F1; RTE's accuracy from two seeds."""


def with_f1(one: Standing, share: float) -> Standing:
    def changed(run):
        curve = tuple(
            dataclasses.replace(each, figures={"valid": {"F1": 0.0}, "test": {"F1": share}})
            for each in run.result.curve
        )
        return dataclasses.replace(run, result=dataclasses.replace(run.result, curve=curve))

    return dataclasses.replace(one, runs=tuple(map(changed, one.runs)))


def task(label: str, standings: list[Standing], *figures: str) -> TaskFigures:
    what = SuiteTask.model_validate({"label": label, "recipe": "laptop", "figures": figures})
    return TaskFigures(what, plan_of(*standings, metric=ACCURACY, seeds=2), tuple(standings))


@pytest.fixture
def found() -> EncoderFigures:
    mrpc = [with_f1(standing(k, [a], ACCURACY), f) for k, (a, f) in MRPC.items()]
    rte = [standing(label, values, ACCURACY) for label, values in RTE.items()]
    tasks = (task("rte", rte), task("mrpc", mrpc, "accuracy", "F1"))
    suite = Suite.model_validate({
        "name": "s", "tasks": [{"label": one.task.label, "recipe": "laptop"} for one in tasks],
    })  # fmt: skip
    encoders = (encoder("a", 100.0), encoder("b", 120.0), encoder("c", 150.0, cell="rnn"))
    return EncoderFigures(SuiteFigures(Path(), suite, tasks, {}), encoders, ("bow", "lstm"))


def test_statistics_are_over_the_models_alone(found: EncoderFigures):
    assert list(map(str, found.measures)) == [
        "mrpc F1", "mrpc accuracy", "rte accuracy", "average", "flat mean",
    ]  # fmt: skip
    f1 = found.statistics(Measure("mrpc", "F1"))
    assert f1 == pytest.approx((0.7, 0.1, 0.6, 0.7, 0.8))
    rte = [0.51, 0.62, 0.55]
    expected = (np.mean(rte), np.std(rte, ddof=1), 0.51, 0.55, 0.62)
    assert found.statistics(Measure("rte", "accuracy")) == pytest.approx(expected)
    averages = [(51 + (70 + 80) / 2) / 2, (62 + (60 + 70) / 2) / 2, (55 + (80 + 60) / 2) / 2]
    mean, *_, least, median, most = found.statistics(Measure("", AVERAGE))
    assert (mean, least, median, most) == pytest.approx((np.mean(averages), 62.5, 63.0, 63.5))
    flat = [(51 + 70 + 80) / 3, (62 + 60 + 70) / 3, (55 + 80 + 60) / 3]
    assert found.statistics(Measure("", FLAT))[0] == pytest.approx(np.mean(flat))


def test_both_averages_are_those_of_glue_and_the_paper():
    values = {"ax": {"Matthews": 0.003}}
    for place, (name, metric) in enumerate(glue_score.NAS_BENCH_NLP):
        values.setdefault(name, {})[metric] = place / 20
    assert flat_mean(values) == pytest.approx(glue_score.flat_mean(values))
    del values["ax"]
    parts = {name: tuple(each.values()) for name, each in values.items()}
    assert average(parts) == pytest.approx(glue_score.glue_average(values))


def test_perplexity_beside_scores(found: EncoderFigures):
    # mrpc accuracy: 70, 60, 80 as perplexity grows.
    # With three models, two of six orders are at the ends.
    assert found.correlations(Measure("mrpc", "accuracy"))["t"] == pytest.approx((0.5, 3, 1.0))
    assert found.correlations(Measure("mrpc", "F1"))["t"] == pytest.approx((-1.0, 3, 1 / 3))
    two = dataclasses.replace(found, encoders=(*found.encoders[:2], encoder("c", 9.0, "other")))
    assert two.correlations(Measure("mrpc", "F1")) == {}
    said = " ".join(outcome(found))
    assert said.startswith("a has the highest flat mean of the models, 67.0.")
    assert "3 of 3 are above bow, which has 61.3. 0 of 3 are above lstm, which has 90.0." in said
    assert said.endswith("is -0.50 over 3 models: chance is as far from 0 in 100% of all orders.")
    assert "takes 3 models of one text" in " ".join(outcome(two))


def test_what_goes_together_by_more_than_chance():
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    rng, chances = np.random.default_rng(3), {}
    for size in (5, 12, 40):
        a = rng.normal(size=size)
        b = a + rng.normal(size=size)
        rho, pairs, chance = correlation(a.tolist(), b.tolist())
        assert (rho, pairs) == (pytest.approx(stats.spearmanr(a, b).statistic), size)
        chances[size] = chance, stats.spearmanr(a, b).pvalue
        if size == 5:
            every = [abs(correlation(list(order), b.tolist()).rho) for order in permutations(a)]
            assert chance == pytest.approx(np.mean(np.array(every) >= abs(rho) - 1e-9))
    for size in (12, 40):
        assert chances[size][0] == pytest.approx(chances[size][1], abs=0.01)
    assert math.isnan(correlation([1.0, 2.0, 3.0], [5.0, 5.0, 5.0]).rho)


def test_tables(found: EncoderFigures):
    table = over_runs(found)
    heading, *rows = [line.split(",") for line in to_csv(table).splitlines()]
    assert heading[:6] == ["measure", "mean", "std", "min", "median", "max"]
    assert heading[6:] == ["bow", "lstm", "spearman_t"]
    assert rows[0][0] == "mrpc F1"
    assert [float(x) for x in rows[0][3:]] == pytest.approx([0.6, 0.7, 0.8, 0.72, 0.9, -1.0])
    row = "| rte accuracy | 0.560 | 0.056 | 0.510 | 0.550 | 0.620 | 0.420 | 0.900 |"
    assert row in to_markdown(table)
    assert ranked(found) == ["lstm", "a", "c", "b", "bow"]
    lines = to_markdown(each_run(found)).splitlines()
    assert "| a | gru | t | 100.0 | 0.800 | 0.700 | 0.510 | 63.0 | 67.0 |" in lines
    assert lines[4].startswith("| **lstm** |")
    assert "over 2 of 9 tasks" in caption(found)
    assert "over 3 of 13 metrics" in caption(found)
    document = as_json(found)
    assert document["encoders"][2]["perplexity"] == pytest.approx(150)
    assert document["encoders"][2]["values"]["rte accuracy"] == pytest.approx(0.55)
    assert document["measures"][1]["over_runs"]["max"] == pytest.approx(0.8)


def test_what_has_no_result_is_left_out(found: EncoderFigures):
    rte, mrpc = found.suite.tasks
    lost = dataclasses.replace(rte.of("a"), runs=())
    rte = dataclasses.replace(rte, standings=(lost, *rte.standings[1:]))
    fewer = dataclasses.replace(found, suite=dataclasses.replace(found.suite, tasks=(rte, mrpc)))
    assert math.isnan(fewer.value("a", Measure("", FLAT)))
    assert fewer.statistics(Measure("rte", "accuracy")).min == pytest.approx(0.55)
    assert ranked(fewer)[-1] == "a"
    assert "–" in to_markdown(each_run(fewer))


# -- who is compared -------------------------------------------------------------------------------


def test_encoders_and_their_baselines():
    runs = [encoder("a", 9.0), encoder("b", 8.0), encoder("c", 9.0, "other")]
    entrants = Entrants(runs)
    assert entrants.baselines == ("sgns-bow-t-6", "sgns-lstm-t-6", "sgns-bow-other-6",
                                  "sgns-lstm-other-6")  # fmt: skip
    recipe, found = entrants.on(load_recipe("frozen-mrpc", ["model.projection=64"]))
    assert [one.label for one in found] == ["a", "b", "c", *entrants.baselines]
    assert recipe == found[0].recipe
    shown = [one.recipe.task.embeddings[0] for one in found]
    assert [(each.kind, each.run) for each in shown] == [
        ("run", "/runs/a"), ("run", "/runs/b"), ("run", "/runs/c"),
        ("sgns", "/runs/a"), ("sgns", "/runs/a"), ("sgns", "/runs/c"), ("sgns", "/runs/c"),
    ]  # fmt: skip
    assert all(each.with_input for each in shown[:3])
    assert found[3].recipe.model == recipe.model.model_copy(update={"pooling": "mean"})
    lstm = found[4].recipe.model
    assert isinstance(lstm, BiRnnSettings)
    assert (found[4].cell.name, lstm.layers, lstm.hidden, lstm.feed_forward) == ("lstm", 1, 64, 256)
    assert Entrants(runs, baselines=False).baselines == ()
    with pytest.raises(UserError, match="glue-mrpc is no recipe for frozen encoders"):
        entrants.on(load_recipe("glue-mrpc"))


def test_suites_and_some_of_their_tasks(tmp_path: Path):
    assert len(encoder_suite("glue").tasks) == 9
    assert encoder_suite("glue").tasks[2].recipe == "frozen-mrpc"
    assert encoder_suite("glue-laptop", ["sst-2"]).tasks[0].recipe == "frozen-sst-2-laptop"
    with pytest.raises(UserError, match="no task 'sst'; did you mean 'sst-2'"):
        encoder_suite("glue", ["sst"])
    with pytest.raises(UserError, match="no task"):
        encoder_suite("glue", [])
    (tmp_path / "mine.toml").write_text('[[tasks]]\nlabel = "x"\nrecipe = "frozen-rte"\n')
    assert encoder_suite(tmp_path / "mine.toml").labels == ("x",)


def test_another_model_in_a_runs_place_is_noticed(tmp_path: Path):
    one, other = encoder("a", 9.0), encoder("b", 9.0)
    check_encoders(tmp_path / "none", [one])
    write_encoders(tmp_path, [one])
    check_encoders(tmp_path, [one, other])
    with pytest.raises(RunError, match="made with another model a"):
        check_encoders(tmp_path, [dataclasses.replace(one, epoch=2)])
    (tmp_path / "encoders.json").write_text("{}")
    with pytest.raises(RunError, match="damaged"):
        check_encoders(tmp_path, [one])


def test_runs_become_encoders(tmp_path: Path):
    run = tiny_run(tmp_path)
    first, *others = load_encoders([run, str(run), run.parent / run.name])
    assert others == []
    trained = cw.load(run)
    assert first.path == str(run)
    assert (first.corpus, first.width, first.words) == ("text", 6, 8)
    assert first.cell == trained.cell
    assert first.perplexity == pytest.approx(trained.valid)
    with pytest.raises(RunError, match="no run to encode"):
        load_encoders([])
