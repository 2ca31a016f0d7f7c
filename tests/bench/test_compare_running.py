"""One search in simulated time: its course on tables made by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from bench_tables import INF, NAN, run, table

from cellwright.bench import BenchError, Benchmark, Evaluator, pool_of
from cellwright.bench.compare.preparing import Table, check_tests, full_epochs
from cellwright.bench.compare.running import Course, Step, pool_for, simulate
from cellwright.cell.zoo import zoo
from cellwright.search.blackbox.ask_tell import Method
from cellwright.trials.trial import Trial

IDLE = 3


def two_cells() -> Benchmark:
    """Seconds of an epoch: 10 for the GRU, 7 for the LSTM. Test losses are 0.1 below."""
    return table(
        gru=[run([6.0, 5.0, 5.5], [10, 10, 10]), run([4.0, 4.0, 4.0], [10, 10, 10], seed=1)],
        lstm=[run([5.8, 5.4, 4.9], [7, 7, 7])],
        rnn=[run([9.0, INF], [1, 1], "diverged")],
    )


@dataclass(eq=False, kw_only=True)
class Scripted(Method):
    """Asks for what it was told to ask for."""

    name = "scripted"
    script: tuple[tuple[str, int], ...] = ()

    def _propose(self, number: int) -> Trial | None:
        if number >= len(self.script):
            return None
        name, epochs = self.script[number]
        return Trial(number, zoo[name], epochs, 0)


def course(*script: tuple[str, int], seconds: float = 1000.0, **more: bool) -> Course:
    benchmark = two_cells()
    method = Scripted(pool_of(benchmark), script=script)
    return simulate(method, Evaluator(benchmark, single_run=True, **more), seconds, IDLE)


def test_a_step_is_where_the_best_by_validation_changes():
    found = course(("gru", 1), ("gru", 3), ("rnn", 3), ("lstm", 2), ("lstm", 3))
    assert found.steps == (
        Step(10.0, 1, 0, 1, 6.0, 5.9),
        # Going on costs 20 seconds; epoch 2 is the best, not the last one.
        Step(30.0, 2, 0, 2, 5.0, 4.9),
        # The RNN diverges after 2 seconds, 2 epochs of the LSTM do not help, the third does.
        Step(53.0, 5, 1, 3, 4.9, pytest.approx(4.8)),
    )
    assert (found.trials, found.cells, found.seconds, found.ended) == (5, 3, 53.0, "finished")


def test_a_trial_that_would_end_after_the_budget_counts_for_nothing():
    script = (("gru", 1), ("gru", 3), ("lstm", 3))
    assert course(*script, seconds=30.0).seconds == 30.0  # to the second is within
    cut = course(*script, seconds=29.9)
    assert [step.seconds for step in cut.steps] == [10.0]
    assert (cut.trials, cut.cells, cut.seconds, cut.ended) == (1, 1, 10.0, "budget")
    nothing = course(*script, seconds=9.0)
    assert (nothing.steps, nothing.trials, nothing.seconds) == ((), 0, 0.0)


def test_a_search_that_trains_nothing_new_is_idle():
    again = [("gru", 2)] * IDLE
    found = course(("gru", 3), *again, ("lstm", 3))
    assert (found.ended, found.trials, found.cells) == ("idle", 1 + IDLE, 1)
    assert course(("gru", 3), *again[1:], ("lstm", 3)).ended == "finished"


def test_a_course_is_json_and_back():
    found = course(("gru", 1), ("lstm", 3))
    assert Course.from_json(found.to_json()) == found


# -- what a comparison needs of a table ----------------------------------------------------


def test_training_everything_is_the_most_that_a_search_can_do(tmp_path):
    benchmark = two_cells()
    first = Table(tmp_path, benchmark, ())
    assert first.cells == 3
    assert first.lowest_test == pytest.approx(3.9)  # L* is that of the whole table …
    seconds, left = first.everything
    assert seconds == 30 + 21 + 2
    assert left == pytest.approx(4.8 - 3.9)  # … whatever run the searches see
    every = Table(tmp_path, benchmark, (), single_run=False)
    assert every.everything[0] == 83
    assert every.everything[1] == 0


def test_the_budget_is_the_papers_or_a_quarter_of_the_table(tmp_path):
    def hours(of_an_epoch: float) -> float:
        benchmark = table(gru=[run([5.0], [3600 * of_an_epoch])])
        return Table(tmp_path, benchmark, ()).default_hours

    assert hours(941.5) == 240
    assert hours(1e5) == 1000


def test_a_full_training_is_what_all_good_ones_have():
    assert full_epochs(two_cells()) == 3  # the diverged one has 2
    with pytest.raises(BenchError, match="no training that ended well"):
        full_epochs(table(gru=[run([NAN], status="diverged")]))


def test_a_best_model_without_a_test_loss_is_refused():
    check_tests(two_cells())
    benchmark = two_cells()
    test = np.array(benchmark.test)
    test[2] = NAN  # the GRU's third epoch, never its best
    check_tests(replace(benchmark, test=test))
    test[1] = NAN
    with pytest.raises(BenchError, match="no test loss of 'gru' at epoch 2"):
        check_tests(replace(benchmark, test=test))


def test_all_methods_choose_among_the_same_cells():
    benchmark = two_cells()
    some = np.array([[1.0], [2.0], [NAN]])
    benchmark = benchmark.with_features("some", some).with_features("all", np.eye(3))
    names = ("all", "some")
    for features in (None, "some", "all"):
        assert [cell.id for cell in pool_for(benchmark, features, names).cells] == [
            zoo["gru"].id,
            zoo["lstm"].id,
        ]
    assert len(pool_for(benchmark, "all", ["all"]).cells) == 3
