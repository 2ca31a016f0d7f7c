"""Search a cell, train it beside others, and see what came of it. Some minutes on two cores.

    python examples/demo.py [FOLDER] [--seed N]

A joint search of ESS on the text that comes with Python proposes some cells, of which short
trainings choose one; then it, an LSTM and three random cells of the same space are trained in the
same way, three times each. All of it goes into FOLDER, `demo` unless said, with a report in
`index.html`. Whenever it is stopped, the same command goes on from there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

import cellwright as cw
from cellwright.api import Comparison
from cellwright.api.progress import everywhere
from cellwright.base.amounts import duration, memory
from cellwright.base.errors import UserError
from cellwright.base.statistics import Finding, difference
from cellwright.cell.draw import svg
from cellwright.cli.output import stdout
from cellwright.cli.tables import Column, Listing
from cellwright.compare.contenders import Contender, contender, draw
from cellwright.compare.failures import refuse_failures
from cellwright.compare.plan import Plan
from cellwright.compare.results import Standing, named
from cellwright.data import load
from cellwright.report.comparison.page import add_cells, add_curves, add_runs, caption
from cellwright.report.comparison.words import HOW_COMPARED, compared, mean_text, remarks
from cellwright.report.page import Page
from cellwright.runs.errors import RunError, Stopped
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.one_shot.folder import SearchFolder
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.spaces import space
from cellwright.tasks.language.metric import PERPLEXITY

FOUND, LSTM = "found", "lstm"


@dataclass(frozen=True)
class Sizes:
    """What decides how long it takes.

    The trainings' rate falls earlier than in the recipe, since they are shorter.
    """

    search: Sequence[str] = ()
    training: Sequence[str] = (
        "training.epochs=3",
        "training.decay_after=2",
        "training.decay=0.5",
    )
    seeds: int = 3
    random: int = 3
    seed: int = 0  # of the search, and of the random cells
    search_recipe: str = field(default="ess-laptop", init=False)
    recipe: str = field(default="laptop", init=False)


def demo(folder: Path, sizes: Sizes) -> Path:
    """Everything, from where it was; the report."""
    searched = search(folder / "search", sizes)
    comparison = compare(folder / "comparison", searched, sizes)
    found = comparison.standings
    report = write_report(folder / "index.html", searched, comparison.plan, found, sizes)
    print_outcome(searched, found)
    say(f"\nThe report, with pictures of the cells and all curves: {report}")
    return report


def say(text: str = "", style: str = "") -> None:
    """Print a line for people."""
    stdout().print(text, style=style)


def show(command: str) -> None:
    """Print a command in one line, so that it can be copied."""
    stdout().print(f"  {command}\n", style="cyan", soft_wrap=True)


def given(settings: Sequence[str]) -> str:
    """Settings as they are given to a command."""
    return "".join(f"--set {setting} " for setting in settings)


# -- the two steps -----------------------------------------------------------------------------


def search(folder: Path, sizes: Sizes) -> SearchFolder:
    """A joint search of ESS, from where it was."""
    load("builtin")  # the text is prepared once, and that is not the search's cost
    say("1 of 2: search a cell", "bold")
    say("A joint search of ESS, inside the cell and between cells in turns. As you would start it:")
    place = f"--seed {sizes.seed} --out {folder.parent} --name {folder.name}"
    show(f"cellwright search {sizes.search_recipe} {given(sizes.search)}{place}")
    if not folder.exists():
        cw.search(
            sizes.search_recipe, settings=sizes.search, seed=sizes.seed, name=folder.name,
            out=folder.parent, checkpoint_seconds=20.0, watcher=everywhere(),
        )  # fmt: skip
        return SearchFolder.open(folder)
    there = SearchFolder.open(folder)
    same = there.info.recipe.search == load_search_recipe(sizes.search_recipe, sizes.search).search
    if not same or there.info.seeds != (sizes.seed,):
        raise RunError(f"{folder} was made with other settings")
    if there.ended:
        say(f"It has been done: the cell is in {folder / 'found.json'}")
    else:
        cw.search(resume=folder, checkpoint_seconds=20.0, watcher=everywhere())
    return SearchFolder.open(folder)


def compare(folder: Path, searched: SearchFolder, sizes: Sizes) -> Comparison:
    """Train the found cell and the others, as far as that has not been done."""
    say("\n2 of 2: train it beside others", "bold")
    say("The found cell, an LSTM and random cells of the same space, each by the same recipe with")
    say("the same seeds. As you would start it:")
    drawn = random_request(searched, sizes.random)
    show(
        f"cellwright compare {searched.path / 'found.json'} lstm --random {drawn} "
        f"--random-seed {sizes.seed} --recipe {sizes.recipe} {given(sizes.training)}"
        f"--seeds {sizes.seeds}"
    )
    found = cw.compare(
        contenders(searched, sizes.random), recipe=sizes.recipe, settings=sizes.training,
        seeds=sizes.seeds, out=folder, watcher=everywhere(),
    )  # fmt: skip
    refuse_failures(found.failures)
    return found


def contenders(searched: SearchFolder, random: int) -> list[Contender]:
    """What is compared."""
    found = contender(searched.found(), FOUND, "found by the search")
    settings = searched_space(searched)
    nodes = {"nodes": settings.nodes, "m": settings.m, "edges": settings.edges}
    # One more than asked for, in case one of them is the found cell.
    drawn = draw(space("ess", **nodes), random + 1, seed_of(searched))
    others = [one for one in drawn if one.cell != found.cell]
    return [found, contender(cw.zoo["lstm"], LSTM), *others[:random]]


def seed_of(searched: SearchFolder) -> int:
    """The one that was searched with."""
    return searched.info.seeds[0]


def search_seconds(searched: SearchFolder) -> tuple[float, float]:
    """The time of the search itself, and that of the choice among what it proposed."""
    chosen = searched.selection()["candidates"]
    own = searched.seed_folder(seed_of(searched)).figures()["seconds"]
    return own, sum(each["retraining_seconds"] for each in chosen)


def searched_space(searched: SearchFolder) -> DifferentiableSettings:
    """The settings of the search, which say how large the space is."""
    settings = searched.info.recipe.search
    assert isinstance(settings, DifferentiableSettings)
    return settings


def random_request(searched: SearchFolder, number: int) -> str:
    """The random cells as `cellwright compare` is asked for them."""
    settings = searched_space(searched)
    edges = "" if settings.edges == "plain" else f",edges={settings.edges}"
    return f"ess:{number},nodes={settings.nodes},m={settings.m}{edges}"


# -- what came out, in words -------------------------------------------------------------------


def verdict(found: Standing, lstm: Standing, others: Sequence[Standing]) -> list[str]:
    """How the found cell did, in sentences that say what the numbers say, whatever that is.

    They are about the test text: the search learned from the validation text.
    """
    if found.test is None:
        return ["The found cell diverged with every seed: the search found nothing of use."]
    said = []
    if lstm.test is not None:
        said.append(compared("The found cell", found.test, "the LSTM", lstm.test, PERPLEXITY))
    rivals = [(one.label, one.test) for one in others]
    trained = {label: test for label, test in rivals if test is not None}
    findings = {label: difference(found.test, test).finding for label, test in trained.items()}
    if len(trained) > 1:
        said.append(against_mean(found.test.mean, [test.mean for test in trained.values()]))
    if findings:
        said.append(against_random(findings))
    lost = [label for label, test in rivals if test is None]
    if lost:
        said.append(f"{named(lost)} diverged with every seed.")
    return said


def against_mean(found: float, drawn: Sequence[float]) -> str:
    """How the found cell stands to what one could expect of a cell drawn at random."""
    mean, shown = fmean(drawn), "{:.1f}".format
    how = "better" if found < mean else "worse"
    spread = f"from {shown(min(drawn))} to {shown(max(drawn))}"
    return (
        f"The mean of the random cells is {shown(mean)} ({spread}): the found cell is {how} than a "
        f"random one on average, by {shown(abs(found - mean))}."
    )


def against_random(findings: dict[str, Finding]) -> str:
    """How the found cell did against the random ones, and what that says about the search."""
    words: dict[Finding, str] = {
        "lower": "better than",
        "seems lower": "seemingly better than",
        "not distinguishable": "not distinguishable from",
        "seems higher": "seemingly worse than",
        "higher": "worse than",
        "unknown": "from one seed each, not comparable with",
    }
    parts = []
    for finding, phrase in words.items():
        labels = [label for label, this in findings.items() if this == finding]
        if labels:
            parts.append(f"{phrase} {named(labels)}")
    kinds = set(findings.values())
    if kinds == {"lower"}:
        meaning = "here the search did better than drawing cells at random"
    elif kinds <= {"lower", "seems lower"}:
        meaning = "the search seems to have done better than drawing cells at random"
    elif kinds & {"unknown"}:
        meaning = "more seeds would tell what the search was worth"
    elif kinds <= {"higher", "seems higher"}:
        meaning = "here drawing cells at random did better than the search"
    elif kinds & {"higher", "seems higher"}:
        meaning = "a cell drawn at random can do better than the one that was searched for"
    else:
        meaning = "the search has not shown that it is worth more than drawing cells at random"
    return f"Among the random cells it is {'; '.join(parts)}: {meaning}."


def costs(searched: SearchFolder, found: Standing) -> str:
    """What the found cell cost."""
    own, choice = search_seconds(searched)
    took = f"The search took {duration(own)}"
    if choice:
        took += f" and the choice among what it proposed {duration(choice)}"
    if found.seconds is None:
        return f"{took}."
    return (
        f"{took}, as long as {(own + choice) / found.seconds:.1f} trainings of its cell "
        f"({duration(found.seconds)} each)."
    )


def outcome(searched: SearchFolder, found: Sequence[Standing]) -> list[str]:
    """All that is to be said."""
    cells = {one.label: one for one in found}
    others = [one for one in found if one.label not in (FOUND, LSTM)]
    said = [*verdict(cells[FOUND], cells[LSTM], others), costs(searched, cells[FOUND])]
    status = searched.seed_folder(seed_of(searched)).figures()["status"]
    if status != "ok":
        said.insert(0, f"The search diverged ({status}); its cell is that of its last good epoch.")
    return said


def table(
    searched: SearchFolder, found: Sequence[Standing]
) -> tuple[list[str], list[list[str]], int]:
    """The table, and the place of the found cell in it."""
    seconds = sum(search_seconds(searched))
    header = ["cell", "parameters", "valid", "test", "training", "search", "in all", "memory",
              "diverged"]  # fmt: skip
    rows = []
    for one in found:
        extra = seconds if one.label == FOUND else 0.0
        training = one.seconds or 0.0
        rows.append([
            one.label,
            f"{one.parameters or 0:,}",
            mean_text(one.valid, PERPLEXITY),
            mean_text(one.test, PERPLEXITY),
            duration(training),
            duration(extra) if extra else "–",
            duration(training + extra),
            memory(one.peak_memory or 0),
            f"{len(one.diverged)} of {len(one.runs)}" if one.diverged else "none",
        ])  # fmt: skip
    return header, rows, [one.label for one in found].index(FOUND)


def print_outcome(searched: SearchFolder, found: Sequence[Standing]) -> None:
    """The table and the sentences on the terminal."""
    header, rows, place = table(searched, found)
    goes = {"test": 1, "in all": 2, "parameters": 3, "search": 4, "training": 5, "memory": 6,
            "diverged": 7}  # fmt: skip
    shown = Listing(*(Column(name, goes.get(name, 0), right=name != "cell") for name in header))
    for number_, row in enumerate(rows):
        shown.add(*row, style="bold cyan" if number_ == place else "")
    stdout().print()
    stdout().print(shown)
    say("perplexities: mean ± sample standard deviation over the seeds\n", "dim")
    for sentence in outcome(searched, found):
        say(sentence)


# -- the report --------------------------------------------------------------------------------


def write_report(
    path: Path, searched: SearchFolder, plan: Plan, found: Sequence[Standing], sizes: Sizes
) -> Path:
    """One file with everything in it."""
    settings = searched_space(searched)
    page = Page(
        "A cell that was searched, beside others",
        f"A joint search of ESS ({settings.nodes} nodes, gates over the last {settings.m}) on the "
        "text that comes with Python found a cell. It was then trained in the same way as an LSTM "
        f"and random cells of the same space, with {len(plan.seeds)} seeds each.",
    )
    page.section("Outcome")
    for sentence in outcome(searched, found):
        page.text(sentence)
    header, rows, place = table(searched, found)
    page.table(
        header, rows, numeric=range(1, len(header)), highlight=place,
        caption=f"{caption(plan)} In all is the search and one training. {HOW_COMPARED}",
    )  # fmt: skip
    page.note(
        "The search learned its choices from the validation text, so the sentences above are about "
        "the test text. A text and models as small as these say nothing about larger ones."
    )
    for remark in remarks(plan, found):
        page.note(remark)
    page.section("The found cell")
    cell = searched.found()
    page.figure(svg.render(cell), f"The found cell, id {cell.id}.", alt="the graph of the cell")
    page.section("How the search went")
    add_search(page, searched)
    page.section("Curves of the trainings")
    add_curves(page, plan, found)
    page.section("Every training")
    add_runs(page, plan, found)
    page.section("The other cells")
    add_cells(page, plan, [one for one in found if one.label != FOUND])
    page.section("Do it yourself")
    cell_file = searched.path / "found.json"
    page.code(
        f"cellwright search {sizes.search_recipe} {given(sizes.search)}--seed {sizes.seed}\n"
        f"cellwright compare {cell_file} lstm --random {random_request(searched, sizes.random)} "
        f"--random-seed {sizes.seed} --recipe {sizes.recipe} {given(sizes.training)}"
        f"--seeds {sizes.seeds}\n"
        f"cellwright train {cell_file}"
    )
    page.write(path)
    return path


def add_search(page: Page, searched: SearchFolder) -> None:
    """What was watched, and how the cell settled."""
    folder = searched.seed_folder(seed_of(searched))
    pictures = (
        ("progress.svg", "Perplexity of the supernet, and how far the choice has been made: the "
         "mean absolute deviation of the edges' weights from where they began rises, their entropy "
         "falls (as in ESS, Figure 6)."),
        ("evolution.svg", "The cell after each epoch: what every node is made of."),
    )  # fmt: skip
    for name, below in pictures:
        if (folder.path / name).exists():
            page.figure((folder.path / name).read_bytes(), below)
    epochs = [record for record in folder.metrics() if record.get("kind") == "epoch"]
    page.table(
        ["epoch", "round", "learned", "valid", "entropy", "deviation"],
        [
            [
                record["epoch"],
                record["round"],
                record["group"] if record["round"] else "weights alone",
                PERPLEXITY.shown(record["valid"]),
                f"{record['watched']['entropy']:.3f}",
                f"{record['watched']['mad']:.4f}",
            ]
            for record in epochs
        ],
        numeric=(0, 1, 3, 4, 5),
    )


def main() -> None:
    """Run the demo, and say what went wrong if something did."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("demo"))
    parser.add_argument("--seed", type=int, default=0, help="of the search and the random cells")
    given = parser.parse_args()
    folder = given.folder
    try:
        demo(folder, Sizes(seed=given.seed))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        print(f"to begin anew, remove {folder}", file=sys.stderr)
        sys.exit(1)
    except Stopped as stop:
        print("stopped; the same command goes on from here", file=sys.stderr)
        sys.exit(128 + stop.signal)


if __name__ == "__main__":
    main()
