"""The simulated environment answers as a literal reading of the paper's section 5 says."""

from __future__ import annotations

import numpy as np
import pytest
from bench_tables import INF, NAN, run, table
from hypothesis import given
from hypothesis import strategies as st

from cellwright.bench import BenchError, Benchmark, Environment, UnknownArchitectureError
from cellwright.cell.zoo import zoo


@pytest.fixture
def toy() -> Benchmark:
    return table(
        lstm=[
            run([6.0, 5.0, 4.5, 4.7], [10, 20, 30, 40]),
            run([6.1, 5.2, 4.4, 4.6], [1, 2, 3, 4], seed=1),
        ],
        gru=[run([5.5, 5.1, 4.9, 4.8], [5, 6, 7, 8])],
        rnn=[run([7.0, NAN], [100, 200], "diverged", message="loss is nan!")],
    )


def test_training_costs_the_wall_time_of_its_epochs(toy):
    environment = Environment(toy)
    assert environment.train("lstm", 3) == 60
    assert environment.train("gru", 4) == 26
    assert environment.seconds == 86


def test_continuing_from_a_checkpoint_costs_the_difference(toy):
    environment = Environment(toy)
    assert [environment.train("lstm", epochs) for epochs in (1, 2, 4)] == [10, 20, 70]
    assert environment.seconds == 100
    once = Environment(toy)
    once.train("lstm", 4)
    assert once.seconds == environment.seconds


def test_training_again_costs_nothing_and_forgets_nothing(toy):
    environment = Environment(toy)
    environment.train("lstm", 3)
    assert environment.train("lstm", 3) == environment.train("lstm", 1) == 0
    assert environment.reached("lstm") == 3
    assert environment.seconds == 60


def test_metrics_only_up_to_the_epoch_that_was_trained(toy):
    environment = Environment(toy)
    with pytest.raises(BenchError, match=r"'lstm' \(seed 0\) is trained to epoch 0, not 1"):
        environment.metrics("lstm", 1)
    environment.train("lstm", 2)
    found = environment.metrics("lstm", 2)
    assert (found.epoch, found.valid, found.seconds) == (2, 5.0, 30)
    assert found.test == pytest.approx(4.9)
    assert found.train == pytest.approx(5.2)
    assert environment.metrics("lstm", 1).valid == 6.0
    with pytest.raises(BenchError, match="is trained to epoch 2, not 3; train it first"):
        environment.metrics("lstm", 3)
    with pytest.raises(BenchError, match="count from 1"):
        environment.metrics("lstm", 0)


def test_the_best_configuration_is_an_architecture_and_an_epoch_by_validation(toy):
    environment = Environment(toy)
    assert environment.best is None
    environment.train("gru", 2)
    assert environment.best[:4] == (1, 0, 2, 5.1)
    environment.train("lstm", 2)
    assert environment.best[:4] == (0, 0, 2, 5.0)
    environment.train("lstm", 4)  # its third epoch is better than its fourth
    assert environment.best[:4] == (0, 0, 3, 4.5)
    assert environment.best.test == pytest.approx(4.4)
    environment.train("gru", 4)  # worse
    assert environment.best[:4] == (0, 0, 3, 4.5)


def test_epochs_that_were_not_trained_do_not_count_for_the_best(toy):
    environment = Environment(toy)
    environment.train("lstm", 1)
    assert environment.best.valid == 6.0


def test_seeds_are_models_of_their_own(toy):
    assert Environment(toy).seeds("lstm") == (0, 1)
    numbered = table(lstm=[run([6.0, 5.0], [10, 20]), run([6.0, 4.0], [1, 2], seed=7)])
    environment = Environment(numbered)
    assert environment.seeds("lstm") == (0, 7)
    assert environment.train("lstm", 1) == 10
    assert environment.train("lstm", 2, seed=7) == 3
    assert environment.train("lstm", 2) == 20
    assert environment.best[:3] == (0, 7, 2)
    assert environment.reached("lstm", seed=7) == 2
    with pytest.raises(BenchError, match="'lstm' has no run with seed 3; it has 0, 7"):
        environment.train("lstm", 1, seed=3)


def test_a_run_that_diverged_costs_what_it_took_and_says_so_at_its_end(toy):
    environment = Environment(toy)
    assert environment.train("rnn", 1) == 100
    assert environment.status("rnn") == "ok"
    assert environment.train("rnn", 4) == 200
    assert environment.status("rnn") == "diverged"
    assert environment.reached("rnn") == 2
    assert np.isnan(environment.metrics("rnn", 2).valid)
    assert environment.best.valid == 7.0  # a loss that is not finite is never best
    with pytest.raises(BenchError, match=r"ended after epoch 2 \(diverged\), not 4"):
        environment.metrics("rnn", 4)


def test_a_run_without_epochs(toy):
    environment = Environment(table(gru=[run([], [], "failed")]))
    assert environment.status("gru") == "ok"
    assert environment.train("gru", 5) == 0
    assert (environment.status("gru"), environment.reached("gru")) == ("failed", 0)
    assert environment.best is None


def test_only_infinite_losses_leave_no_best():
    environment = Environment(table(gru=[run([INF, NAN, -INF], [1, 1, 1], "diverged")]))
    environment.train("gru", 3)
    assert environment.best is None


def test_an_equal_loss_does_not_replace_the_best():
    environment = Environment(table(gru=[run([5.0, 5.0])], lstm=[run([5.0, 5.0])]))
    environment.train("gru", 2)
    environment.train("lstm", 2)
    assert environment.best[:3] == (0, 0, 1)


def test_more_epochs_than_a_good_run_has_are_an_error(toy):
    with pytest.raises(BenchError, match="the table has 4 epochs of 'gru', not 5"):
        Environment(toy).train("gru", 5)


@pytest.mark.parametrize(
    ("epochs", "problem"), [(0, "at least 1"), (-3, "at least 1"), (2.5, "whole"), ("2", "whole")]
)
def test_epochs_that_are_no_number_of_epochs(toy, epochs, problem):
    with pytest.raises(BenchError, match=problem):
        Environment(toy).train("gru", epochs)


def test_architectures_by_number_name_cell_and_numpy(toy):
    environment = Environment(toy)
    for key in (1, np.int64(1), "gru", zoo["gru"]):
        environment.reset()
        assert environment.train(key, np.int64(1)) == 5
        assert environment.metrics(1, 1).valid == 5.5
    for key in (3, -1, "gruu", zoo["darts-v1"]):
        with pytest.raises(UnknownArchitectureError):
            environment.train(key, 1)
    with pytest.raises(BenchError, match="not a number, a name or a cell"):
        environment.train(None, 1)


def test_an_architecture_that_was_never_trained():
    with pytest.raises(BenchError, match="'gru' has no runs"):
        Environment(table(gru=[])).train("gru", 1)


def test_reset(toy):
    environment = Environment(toy)
    environment.train("lstm", 3)
    environment.reset()
    assert (environment.seconds, environment.best, environment.reached("lstm")) == (0, None, 0)
    assert environment.train("lstm", 1) == 10


def test_environments_of_one_table_do_not_disturb_each_other(toy):
    one, other = Environment(toy), Environment(toy)
    one.train("lstm", 3)
    assert (other.seconds, other.best) == (0, None)


def test_the_lowest_test_loss_of_the_table(toy):
    assert Environment(toy).lowest_test == pytest.approx(4.3)
    assert np.isnan(Environment(table(gru=[])).lowest_test)


def test_an_added_architecture_is_trained_like_any_other(toy):
    environment = Environment(toy)
    number = environment.add([run([3.0, 2.0], [1, 1])])
    assert number == 3
    assert environment.train(number, 2) == 2
    assert environment.best[:4] == (3, 0, 2, 2.0)
    assert environment.metrics(number, 1).valid == 3.0
    assert environment.curve(number, 2) == (3.0, 2.0)
    environment.reset()
    assert environment.train(number, 1) == 1
    with pytest.raises(BenchError, match="2 epochs of the added architecture 3, not 9"):
        environment.train(number, 9)


class LiteralReading:
    """The four tasks of section 5, written down without any thought of speed."""

    def __init__(self, runs: dict[tuple[int, int], tuple[list[float], list[float]]]) -> None:
        self.runs = runs
        self.trained: dict[tuple[int, int], int] = {}
        self.order: list[tuple[tuple[int, int], int]] = []

    def train(self, model: tuple[int, int], epochs: int) -> None:
        for epoch in range(self.trained.get(model, 0), min(epochs, len(self.runs[model][0]))):
            self.trained[model] = epoch + 1
            self.order.append((model, epoch))

    def seconds(self) -> float:
        return sum(self.runs[model][1][epoch] for model, epoch in self.order)

    def best(self) -> tuple[tuple[int, int], int] | None:
        finite = [(m, e) for m, e in self.order if np.isfinite(self.runs[m][0][e])]
        return min(finite, key=lambda entry: self.runs[entry[0]][0][entry[1]], default=None)


losses = st.one_of(st.floats(3, 9).map(lambda x: round(x, 2)), st.just(NAN), st.just(INF))
curves = st.lists(st.tuples(losses, st.integers(0, 50)), min_size=0, max_size=6)


@given(
    tables=st.lists(st.lists(curves, min_size=1, max_size=3), min_size=1, max_size=3),
    calls=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 7)), max_size=20),
)
def test_any_table_and_any_calls_agree_with_the_literal_reading(tables, calls):
    names = ("rnn", "lstm", "gru")
    literal, rows = {}, {}
    for number, runs in enumerate(tables):
        rows[names[number]] = []
        for seed, curve in enumerate(runs):
            valid, seconds = [c[0] for c in curve], [float(c[1]) for c in curve]
            literal[number, seed] = valid, seconds
            rows[names[number]].append(run(valid, seconds, "stopped", seed=seed))
    environment, reading = Environment(table(**rows)), LiteralReading(literal)
    for architecture, seed, epochs in calls:
        model = architecture % len(tables), seed % len(tables[architecture % len(tables)])
        before = reading.seconds()
        reading.train(model, epochs)
        cost = environment.train(model[0], epochs, seed=model[1])
        assert cost == reading.seconds() - before
        assert environment.reached(model[0], seed=model[1]) == reading.trained.get(model, 0)
    assert environment.seconds == reading.seconds()
    best = reading.best()
    if best is None:
        assert environment.best is None
    else:
        (architecture, seed), epoch = best
        assert environment.best[:3] == (architecture, seed, epoch + 1)
        assert environment.best.valid == literal[architecture, seed][0][epoch]
