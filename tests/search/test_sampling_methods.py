"""Random search, aging evolution, Hyperband, ASHA and local search against hand calculations."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from cellwright import zoo
from cellwright.search.blackbox.aging_evolution import AgingEvolution
from cellwright.search.blackbox.ask_tell import Method, Outcome, Trial, run
from cellwright.search.blackbox.asynchronous_hyperband import AsynchronousHyperband
from cellwright.search.blackbox.hyperband import Hyperband, brackets
from cellwright.search.blackbox.local_search import LocalSearch
from cellwright.search.blackbox.methods import restore
from cellwright.search.blackbox.random_search import RandomSearch
from cellwright.spaces import Enas, Fenas, Pool, SpaceError
from cellwright.testing.methods import evaluated as evaluate
from cellwright.testing.methods import loss_of as loss
from cellwright.testing.methods import work

ENAS = Enas(nodes=5)


def asked(method: Method) -> Trial:
    trial = method.ask()
    assert trial is not None
    return trial


# -- random search -------------------------------------------------------------------------


def test_random_search_of_distinct_cells_finds_every_cell_and_ends() -> None:
    space = Enas(nodes=2, operations=("tanh", "relu"))
    search = RandomSearch(space)
    trials = work(search, 100)
    assert len(trials) == len({t.cell.id for t in trials}) == space.distinct_size() == 4
    assert search.finished
    assert search.ask() is None
    assert not RandomSearch(space, distinct=False).finished


def test_random_search_empties_a_pool() -> None:
    rng = np.random.default_rng(0)
    pool = Pool(list({c.id: c for c in (ENAS.sample(rng) for _ in range(100))}.values()))
    search = RandomSearch(pool, seed=3)
    assert len(work(search, 1000)) == pool.size()
    assert search.finished


def test_random_search_trains_as_long_as_it_is_told() -> None:
    assert {t.fidelity for t in work(RandomSearch(ENAS, epochs=10), 20)} == {10}


# -- aging evolution -----------------------------------------------------------------------


def test_evolution_starts_with_the_initial_cells() -> None:
    space = Fenas(nodes=10)
    known = list(space.known().values())
    trials = work(AgingEvolution(space, population=10, initial=known, seed=2), 10)
    assert [t.cell for t in trials[:2]] == known
    assert [t.cell.name for t in trials[:2]] == ["fenas-lstm", "fenas-gru"]
    assert len({t.cell.id for t in trials}) == 10


def test_evolution_refuses_an_initial_cell_of_another_space() -> None:
    with pytest.raises(SpaceError, match="is not a cell of"):
        AgingEvolution(ENAS, initial=(zoo["lstm"],))


def test_a_parent_is_the_best_drawn_of_the_living() -> None:
    population, sample = 5, 3
    search = AgingEvolution(ENAS, population=population, sample=sample, lag=1, seed=4)
    for number in range(60):
        trial = asked(search)
        if number >= population:
            alive = range(number - population, number)
            parent = trial.info["parent"]
            assert parent in alive  # the older ones are dead, however good they were
            drawn = [alive[i] for i in search._rng(number).integers(population, size=sample)]
            losses = [search.outcomes[n].loss for n in drawn]
            assert search.outcomes[parent].loss == min(losses)
            assert trial.cell != search.trials[parent].cell
        search.tell(trial, evaluate(trial))


def test_without_replacement_all_of_a_population_are_drawn() -> None:
    """With as many draws as members the parent is always the best, and the first are all other."""
    few = Enas(nodes=2, operations=("tanh", "relu", "sigmoid"))
    search = AgingEvolution(few, population=8, sample=8, replacement=False, lag=1, seed=1)
    for number in range(20):
        trial = asked(search)
        if number >= 8:
            alive = range(number - 8, number)
            best = min(alive, key=lambda n: search.outcomes[n].loss)
            assert search.outcomes[trial.info["parent"]].loss == search.outcomes[best].loss
        search.tell(trial, evaluate(trial))
    assert len({trial.cell.id for trial in search.trials[:8]}) == 8
    drawn = AgingEvolution(few, population=8, sample=8, lag=1, seed=1)
    assert len({trial.cell.id for trial in work(drawn, 8)}) < 8


def test_what_came_later_is_not_written_down_unless_it_is_said() -> None:
    """Studies that were begun before go on."""
    assert "replacement" not in AgingEvolution(ENAS).settings()
    search = AgingEvolution(ENAS, replacement=False)
    assert search.settings()["replacement"] is False
    assert restore(search.state(), ENAS).settings() == search.settings()


def test_a_failed_trial_is_no_parent_but_ages() -> None:
    search = AgingEvolution(ENAS, population=4, sample=20, lag=1)
    for number in range(12):
        trial = asked(search)
        good = number % 4 == 0
        search.tell(trial, Outcome(1.0) if good else Outcome(0.0, "failed"))
        if number >= 4:
            assert trial.info["parent"] == (number - 1) // 4 * 4


def test_the_lag_says_what_may_be_known() -> None:
    search = AgingEvolution(ENAS, population=4, sample=9, lag=3)
    first = [asked(search) for _ in range(3)]
    assert search.ask() is None
    search.tell(first[1], Outcome(0.0))
    assert search.ask() is None  # trial 3 needs trial 0
    search.tell(first[0], Outcome(5.0))
    assert asked(search).number == 3
    # trial 4 may know trials 0 to 1 + … up to 4 − 3, not trial 2, though that is told and better
    search.tell(first[2], Outcome(-9.0))
    assert asked(search).info["parent"] == 1


# -- Hyperband -----------------------------------------------------------------------------


def test_brackets_by_hand() -> None:
    def numbers(most: int, eta: int) -> dict[int, list[tuple[int, int]]]:
        return {b.s: [tuple(rung) for rung in b.rungs] for b in brackets(most, eta)}

    # R = 81, eta = 3: s_max = 4; n = ceil(5/5·81), ceil(5/4·27), ceil(5/3·9), ceil(5/2·3), 5
    assert numbers(81, 3) == {
        4: [(81, 1), (27, 3), (9, 9), (3, 27), (1, 81)],
        3: [(34, 3), (11, 9), (3, 27), (1, 81)],
        2: [(15, 9), (5, 27), (1, 81)],
        1: [(8, 27), (2, 81)],
        0: [(5, 81)],
    }
    # NAS-Bench-NLP, R = 50: s_max = 3; r = 50/27, 50/9, 50/3, 50 epochs, rounded down
    assert numbers(50, 3) == {
        3: [(27, 1), (9, 5), (3, 16), (1, 50)],
        2: [(12, 5), (4, 16), (1, 50)],
        1: [(6, 16), (2, 50)],
        0: [(4, 50)],
    }
    assert numbers(1, 3) == {0: [(1, 1)]}
    assert numbers(8, 2)[3] == [(8, 1), (4, 2), (2, 4), (1, 8)]


def test_hyperband_follows_its_brackets() -> None:
    search = Hyperband(ENAS, epochs=50, rounds=2)
    run(search, evaluate, 10_000)
    assert search.finished
    counts = Counter((t.info["bracket"], t.fidelity) for t in search.trials)
    plan = brackets(50, 3)
    assert counts == {
        (place, rung.epochs): rung.cells for place in range(8) for rung in plan[place % 4].rungs
    }
    for place in range(8):
        self_and_rungs = [t for t in search.trials if t.info["bracket"] == place]
        for rung in range(plan[place % 4].s):
            here = [t for t in self_and_rungs if t.info["rung"] == rung]
            ids = {t.info["continues"] for t in self_and_rungs if t.info["rung"] == rung + 1}
            ranked = sorted(here, key=lambda t: (loss(t.cell), t.info["index"]))
            assert ids == {t.number for t in ranked[: len(here) // 3]}


def test_hyperband_drops_what_diverged_even_if_a_rung_gets_short() -> None:
    search = Hyperband(ENAS, epochs=9, rounds=1)

    def mostly_diverging(trial: Trial) -> Outcome:
        fine = trial.info["index"] == 4
        return Outcome(1.0) if fine else Outcome(float("nan"), "diverged")

    run(search, mostly_diverging, 1000)
    counts = Counter((t.info["s"], t.info["rung"]) for t in search.trials)
    assert counts == {(2, 0): 9, (2, 1): 1, (2, 2): 1, (1, 0): 5, (1, 1): 1, (0, 0): 3}


def test_hyperband_waits_for_a_rung_unless_brackets_overlap() -> None:
    waiting = Hyperband(ENAS, epochs=9)
    trials = [asked(waiting) for _ in range(9)]
    assert waiting.ask() is None
    for trial in trials:
        waiting.tell(trial, evaluate(trial))
    assert asked(waiting).info["rung"] == 1
    overlapping = Hyperband(ENAS, epochs=9, overlap=True)
    trials = [asked(overlapping) for _ in range(9)]
    following = asked(overlapping)
    assert (following.info["bracket"], following.info["rung"]) == (1, 0)
    for trial in trials:
        overlapping.tell(trial, evaluate(trial))
    assert asked(overlapping).info["bracket"] == 0


def test_overlapping_brackets_have_the_same_trials() -> None:
    def trials(**settings: bool) -> set[tuple[object, ...]]:
        search = Hyperband(ENAS, epochs=9, rounds=2, seed=5, **settings)
        work(search, 10_000, workers=4)
        return {
            (t.info["bracket"], t.info["rung"], t.cell.id, t.seed, t.fidelity)
            for t in search.trials
        }

    assert trials() == trials(overlap=True)


# -- ASHA ----------------------------------------------------------------------------------


def test_asha_by_hand() -> None:
    search = AsynchronousHyperband(ENAS, epochs=9)  # rungs of 1, 3 and 9 epochs, one in three
    values = iter([5.0, 4, 3, 3.5, 2, 6, 1, 1.5, 7, 8, 9, 9, 9, 9])
    seen = []
    for _ in range(14):
        trial = asked(search)
        seen.append((trial.info["rung"], trial.info.get("continues")))
        search.tell(trial, Outcome(next(values)))
    begins = (0, None)
    assert seen == [
        begins, begins, begins,  # 5, 4, 3: of three the best one goes on,
        (1, 2),
        begins,  # and 2 is the best of four
        (1, 4),
        begins,  # and 1 the best of five
        (1, 6),
        (2, 7),  # rung 1 has 3.5, 6 and 1.5: the last goes on
        begins, begins, begins, begins, begins,  # of up to nine, the best three went on before
    ]  # fmt: skip


def test_asynchronous_hyperband_shares_out_new_cells_in_proportion() -> None:
    search = AsynchronousHyperband(ENAS, epochs=9, brackets=3)
    work(search, 300)
    begun = Counter(t.info["s"] for t in search.trials if t.info["rung"] == 0)
    total = begun.total()
    for s, cells in ((2, 9), (1, 5), (0, 3)):
        assert begun[s] / total == pytest.approx(cells / 17, abs=0.02)
    assert {t.fidelity for t in search.trials if t.info["s"] == 0} == {9}


def test_asha_never_promotes_the_same_trial_twice() -> None:
    search = AsynchronousHyperband(ENAS, epochs=27, brackets=2)
    work(search, 200, workers=5)
    continued = [t.info["continues"] for t in search.trials if "continues" in t.info]
    assert len(continued) == len(set(continued)) > 20


# -- local search --------------------------------------------------------------------------


def test_local_search_moves_to_the_best_neighbour_or_starts_again() -> None:
    size, patience = 6, 2
    search = LocalSearch(ENAS, neighbours=size, patience=patience, seed=1)
    trials = work(search, 25 * size)
    rounds = [trials[i : i + size] for i in range(0, len(trials), size)]
    restarts, moves, misses = 0, 0, 0
    for before, after in pairwise(rounds):
        centres = {t.info.get("parent") for t in before}
        nexts = {t.info.get("parent") for t in after}
        assert len(centres) == len(nexts) == 1
        centre, following = centres.pop(), nexts.pop()
        best = min(before, key=lambda t: search.outcomes[t.number].loss)
        if centre is None or search.outcomes[best.number].loss < search.outcomes[centre].loss:
            assert following == best.number
            moves, misses = moves + 1, 0
        else:
            misses += 1
            assert following == (None if misses == patience else centre)
            restarts += following is None
            misses = 0 if misses == patience else misses
    assert restarts > 1
    assert moves > 5
