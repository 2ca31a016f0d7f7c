"""Suites: their files, and averages over tasks."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from cellwright.compare.results import Standing
from cellwright.compare.suites.figures import SuiteFigures, TaskFigures, average, rows
from cellwright.compare.suites.folder import check_suite_place, write_suite
from cellwright.compare.suites.suite import SUITES, Suite, SuiteTask, find_suite, recipe_of
from cellwright.report.page import Page, PageError
from cellwright.report.suites.table import caption, each_figure, paper_table, suite_table
from cellwright.report.suites.words import outcome, remarks
from cellwright.report.tables import to_latex, to_markdown
from cellwright.runs.errors import RecipeError, RunError
from cellwright.runs.recipes import recipe_names
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.tasks.metric import Metric
from cellwright.tasks.sentences.glue_score import GLUE, glue_average
from compare.figures import plan_of, standing

ACCURACY = Metric.model_validate({"name": "accuracy", "form": "percent"})
PEARSON = Metric.model_validate({"name": "Pearson", "form": "complement"})

# FENAS, Table 3: GLUE's test sets.
LSTM = {
    "cola": [17.1], "sst-2": [86.9], "mrpc": [71.0, 78.9], "qqp": [83.2, 62.7],
    "sts-b": [67.8, 65.6], "mnli": [64.9, 65.8], "qnli": [77.4], "rte": [52.1], "wnli": [65.1],
}  # fmt: skip


def test_averages_are_those_of_the_papers_table():
    assert round(average(LSTM), 1) == 64.3
    table_2 = (17.5, 87.2, 78.4, 87.1, 77.8, 67.4, 79.2, 59.9, 57.7)
    assert round(average({str(k): [value] for k, value in enumerate(table_2)}), 1) == 68.0


def test_averages_are_those_of_glue():
    values = {task: dict(zip(GLUE[task], LSTM[task], strict=True)) for task in LSTM}
    assert average(LSTM) == pytest.approx(glue_average(values))
    assert {task.label: task.figures for task in SUITES["glue"].tasks if task.figures} == {
        "mrpc": ("accuracy", "F1"), "qqp": ("accuracy", "F1"), "sts-b": ("Pearson", "Spearman"),
    }  # fmt: skip


# -- figures ---------------------------------------------------------------------------------------


def with_figure(one: Standing, name: str, shares: list[float]) -> Standing:
    """Trainings that have measured something else as well, on both parts."""
    runs = []
    for run, share in zip(one.runs, shares, strict=True):
        figures = {"valid": {name: share}, "test": {name: share}}
        curve = tuple(dataclasses.replace(each, figures=figures) for each in run.result.curve)
        result = dataclasses.replace(run.result, curve=curve)
        runs.append(dataclasses.replace(run, result=result))
    return dataclasses.replace(one, runs=tuple(runs))


def task(
    label: str, *standings: Standing, metric: Metric = ACCURACY, figures: tuple[str, ...] = ()
) -> TaskFigures:
    what = SuiteTask.model_validate({"label": label, "recipe": "laptop", "figures": figures})
    return TaskFigures(what, plan_of(*standings, metric=metric, seeds=2), standings)


def suite_of(*tasks: TaskFigures, missing: dict[str, str] | None = None) -> SuiteFigures:
    missing = missing or {}
    labels = [*(one.task.label for one in tasks), *missing]
    suite = Suite.model_validate({
        "name": "s", "title": "Some", "tasks": [{"label": x, "recipe": "laptop"} for x in labels],
    })  # fmt: skip
    return SuiteFigures(Path(), suite, tasks, missing)


def cell(label: str, *values: float, metric: Metric = ACCURACY) -> Standing:
    return standing(label, values, metric)


def pair(label: str, accuracies: list[float], shares: list[float]) -> Standing:
    return with_figure(cell(label, *accuracies), "F1", shares)


@pytest.fixture
def found() -> SuiteFigures:
    first = task("first", cell("a", 60.0, 62.0), cell("b", 70.0, 72.0))
    second = task(
        "second",
        pair("a", [80.0, 82.0], [0.90, 0.92]),
        pair("b", [50.0, 52.0], [0.60, 0.62]),
        figures=("accuracy", "F1"),
    )
    return suite_of(first, second, missing={"third": "third is not on this machine"})


def test_figures_of_a_task_are_averaged_before_the_tasks_are(found: SuiteFigures):
    second = found.tasks[1]
    assert second.score("a", "valid").values == pytest.approx((85.0, 87.0))
    assert second.figure("a", "test", "F1").mean == pytest.approx(91.0)
    spread = found.average("a", "valid")
    assert spread.values == pytest.approx((72.5, 74.5))  # one for each seed
    assert spread.mean == pytest.approx(73.5)
    assert spread.deviation == pytest.approx(2**0.5)
    assert found.average("b", "test").mean == pytest.approx((71.0 + 56.0) / 2)
    assert found.cells == ("a", "b")
    assert (found.first("a", "valid"), found.first("b", "valid")) == (["second"], ["first"])
    assert found.parameters("a") == (1000, 1000)
    assert found.seconds("a") == 4 * 30.0
    assert rows(found)[0]["second_valid_mean"] == pytest.approx(86.0)


def test_what_is_said(found: SuiteFigures):
    said = " ".join(outcome(found))
    assert "a has the highest validation average, 73.5 ± 1.4 over 2 tasks" in said
    assert "higher than that of b by more than chance explains" in said
    assert "It is first on 1 of 2 tasks." in said
    assert "On the test data its average is 73.5 ± 1.4, and it is first on 1 of 2 tasks." in said
    notes = remarks(found)
    assert "third is missing: third is not on this machine." in notes
    assert any("Averages are over 2 of the 3 tasks of Some" in note for note in notes)
    header, (best, other) = suite_table(found, "valid")
    assert header == ["cell", "first", "second", "average", "parameters", "time"]
    assert best == ["a", "61.0 ± 1.4", "86.0 ± 1.4", "73.5 ± 1.4", "1k", "2 min 00 s"]
    assert other[3] == "63.5 ± 1.4"
    assert "accuracy of first; accuracy and F1 of second" in caption(found)
    assert each_figure(found, "test") == (
        ["cell", "second: accuracy / F1"],
        [["a", "81.0 ± 1.4 / 91.0 ± 1.4"], ["b", "51.0 ± 1.4 / 61.0 ± 1.4"]],
    )
    table = paper_table(found, "test")
    assert "| **a** | **61.0 ± 1.4** | **86.0 ± 1.4** | **73.5 ± 1.4** |" in to_markdown(table)
    assert r"\label{tab:suite-test}" in to_latex(table)


def test_a_papers_table_of_many_tasks_has_means_and_the_spread_of_the_average():
    tasks = [task(f"t{n}", cell("a", 60.0, 62.0), cell("b", 50.0, 50.0)) for n in range(5)]
    text = to_markdown(paper_table(suite_of(*tasks), "test"))
    assert (
        "| **a** | **61.0** | **61.0** | **61.0** | **61.0** | **61.0** | **61.0 ± 1.4** |" in text
    )
    assert "The spread is that of the averages." in text


def test_the_best_on_the_test_data_is_named_where_it_is_another(found: SuiteFigures):
    worse = found.tasks[0].standings[0]
    runs = []
    for run in worse.runs:
        runs.append(dataclasses.replace(run, result=dataclasses.replace(run.result, test=0.99)))
    lower = dataclasses.replace(worse, runs=tuple(runs))
    first = dataclasses.replace(found.tasks[0], standings=(lower, found.tasks[0].standings[1]))
    said = " ".join(outcome(dataclasses.replace(found, tasks=(first, found.tasks[1]))))
    assert "a has the highest validation average" in said
    assert "and it is first on 1 of 2 tasks; the highest is that of b, 63.5 ± 1.4." in said


def test_who_is_first_together_with_others_is_said():
    tied = task("x", cell("a", 60.0, 60.0), cell("b", 60.0, 60.0))
    found = suite_of(tied, task("y", cell("a", 60.0, 62.0), cell("b", 50.0, 52.0)))
    assert "It is first on 2 of 2 tasks (1 of them together with others)." in outcome(found)


def test_shares_of_every_form_are_percentages():
    one = cell("a", 60.0)
    other = standing("a", [1.0], Metric.model_validate({"name": "F1", "form": "percent"}))
    [run] = other.runs
    run = dataclasses.replace(
        run, metric=PEARSON, result=dataclasses.replace(run.result, valid=0.2, test=0.3)
    )
    scores = task("sts", dataclasses.replace(other, runs=(run,)), metric=PEARSON)
    found = suite_of(task("x", one), scores)
    assert scores.score("a", "valid").mean == pytest.approx(80.0)
    assert found.average("a", "test").mean == pytest.approx((60.0 + 70.0) / 2)
    assert outcome(found) == ["a has a validation average of 70.0 over 2 tasks."]


def test_a_figure_that_no_training_has_is_not_counted():
    found = suite_of(task("x", cell("a", 60.0, 61.0), figures=("accuracy", "f1")))
    assert found.tasks[0].names == ("accuracy",)
    assert found.average("a", "valid").mean == pytest.approx(60.5)
    assert "x counts by accuracy alone: its trainings have no f1." in remarks(found)


def test_an_average_is_of_seeds_that_have_all_tasks():
    nothing = float("inf")
    first = task("first", cell("a", 60.0, 62.0), cell("b", 70.0, nothing))
    second = task("second", cell("a", 60.0, nothing), cell("b", nothing, 72.0))
    found = suite_of(first, second)
    assert found.average("a", "valid").values == pytest.approx((60.0,))
    assert found.average("b", "valid") is None
    assert found.cells == ("a", "b")
    notes = " ".join(remarks(found))
    assert "The average of a is of 1 of 2 seeds" in notes
    assert "b has no average: no seed has a result on every task." in notes
    assert "second: b diverged with seed 0" in notes
    assert suite_table(found, "valid")[1][1][3] == "–"


def test_a_lower_average_is_better_of_perplexities_and_of_both_kinds_there_is_none():
    words = task("words", cell("a", 90.0, metric=PERPLEXITY), cell("b", 80.0, metric=PERPLEXITY),
                 metric=PERPLEXITY)  # fmt: skip
    found = suite_of(words)
    assert found.cells == ("b", "a")
    assert outcome(found)[0].startswith("b has the lowest validation average, 80.0 over 1 task:")
    mixed = suite_of(words, task("x", cell("a", 60.0), cell("b", 50.0)))
    assert mixed.metric is None
    assert mixed.cells == ("a", "b")
    assert "There is no average" in outcome(mixed)[0]
    assert outcome(mixed)[1] == (
        "First on the validation data: a on 1 of 2 tasks and b on 1 of 2 tasks."
    )
    assert "average" not in suite_table(mixed, "valid")[0]
    assert len(paper_table(mixed, "test").columns) == 4


# -- files -----------------------------------------------------------------------------------------

GOOD = '[[tasks]]\nlabel = "a"\nrecipe = "laptop"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "tasks is missing"),
        ("tasks = []", "tasks is missing"),
        ("tasks = 3", "tasks should be a list, not 3"),
        ("tasks = [3]", "task 1: should be a table"),
        (f'titel = "x"\n{GOOD}', "unknown key 'titel'; did you mean 'title'"),
        (f'folder = "x"\n{GOOD}', "unknown key 'folder'; a suite has name, title, tasks"),
        (f'{GOOD}recip = "x"', "task 1: unknown key 'recip'; did you mean 'recipe'"),
        ('[[tasks]]\nlabel = "a"', "task 1: recipe is missing"),
        (GOOD.replace('"a"', '"../a"'), "task 1: a label has letters, digits, _ and -"),
        (GOOD.replace('"a"', '"index.html"'), "task 1: a label has letters"),
        (GOOD + GOOD.replace('"a"', '"A"'), "two tasks have the label 'a'"),
        (f'{GOOD}figures = "F1"', "task 1: figures should be a list, not 'F1'"),
        (f"{GOOD}figures = [1]", "task 1: figures should be a valid string"),
        ("x = ", "is not TOML"),
    ],
)
def test_wrong_files_are_named_with_what_is_wrong(tmp_path: Path, text: str, words: str):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(RecipeError) as error:
        find_suite(path)
    assert str(path) in str(error.value)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("glu", "unknown suite 'glu'; did you mean 'glue'"),
        ("none.toml", "there are glue, glue-laptop"),
        ("a\0b", "is not a file name"),
        (".", "should be a file"),
    ],
)
def test_a_suite_that_is_not_there(name: str, words: str):
    with pytest.raises(RecipeError, match=r"suite|file") as error:
        find_suite(name)
    assert words in str(error.value)


def test_recipes_and_data_may_be_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "in" / "text").mkdir(parents=True)
    (tmp_path / "in" / "own.toml").write_text('extends = "laptop"\n[training]\nepochs = 7\n')
    (tmp_path / "in" / "s.toml").write_text(
        '[[tasks]]\nlabel = "a"\nrecipe = "own.toml"\ndata = "text"\n'
        '[[tasks]]\nlabel = "b"\nrecipe = "laptop"\ndata = "ptb"\n'
    )
    (tmp_path / "in" / "ptb").mkdir()  # a known name goes before a folder
    monkeypatch.chdir(tmp_path)
    suite = find_suite("in/s.toml")
    first, second = suite.tasks
    assert recipe_of(suite, first).training.epochs == 7
    assert recipe_of(suite, first, ["training.epochs=3"]).training.epochs == 3
    assert recipe_of(suite, first).task.data == str(tmp_path / "in" / "text")
    assert recipe_of(suite, second).task.data == "ptb"
    with pytest.raises(RecipeError, match="unknown recipe 'laptp'; did you mean 'laptop'"):
        recipe_of(suite, first.model_copy(update={"recipe": "laptp"}))


@pytest.mark.parametrize("name", SUITES)
def test_packaged_suites_have_recipes(name: str):
    suite = SUITES[name]
    assert suite.title
    assert suite.name == name
    assert not {task.recipe for task in suite.tasks} - {*recipe_names()}


def test_a_folder_is_of_one_suite(tmp_path: Path):
    def suite(*labels: str) -> Suite:
        tasks = [{"label": label, "recipe": "laptop"} for label in labels]
        return Suite.model_validate({"name": "mine", "tasks": tasks})

    folder = tmp_path / "out"
    check_suite_place(folder, suite("a"))
    write_suite(folder, suite("a", "b"))
    check_suite_place(folder, suite("b", "a", "c"))
    with pytest.raises(RunError, match="also has b, which the suite mine does not have"):
        check_suite_place(folder, suite("a"))
    (folder / "suite.json").write_text("{}")
    with pytest.raises(RunError, match="is damaged, or of another version"):
        check_suite_place(folder, suite("a"))
    other = tmp_path / "other"
    other.mkdir()
    (other / "comparison.json").write_text("{}")
    with pytest.raises(RunError, match="is a comparison of cells, and no comparison over a suite"):
        check_suite_place(other, suite("a"))
    with pytest.raises(RunError, match="is a file"):
        check_suite_place(folder / "suite.json", suite("a"))


def test_links_of_a_page_stay_beside_it():
    page = Page("x")
    page.links([("a <b>", "sst-2/index.html")])
    assert '<a href="sst-2/index.html">a &lt;b&gt;</a>' in page.html()
    for path in ("https://x", "/etc", "javascript:x"):
        with pytest.raises(PageError):
            page.links([("a", path)])
