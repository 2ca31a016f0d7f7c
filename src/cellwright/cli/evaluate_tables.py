"""What `cellwright evaluate` prints for people: a model's figures, alone or beside another's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table

from cellwright.cli.figures import duration, loss, share
from cellwright.cli.output import printable, stdout

if TYPE_CHECKING:
    from cellwright.runs.texts import Evaluation
    from cellwright.runs.trained import Trained

BY_FREQUENCY = "by how often the training text has a word"


@dataclass(frozen=True)
class Scored:
    """What a model of any task is worth on a part of its data."""

    trained: Trained
    part: str
    loss: float
    figures: Mapping[str, float]
    seconds: float


def print_score(scored: Scored) -> None:
    """A model's metric on a part of its data, and the figures that the task measures beside it."""
    metric, table = scored.trained.task.metric, _facts()
    table.add_row("run", printable(_name(scored.trained)))
    first = scored.trained.task.describe().splitlines()[0]
    table.add_row("data", printable(f"{first}; {scored.part}"))
    notes = [metric.loss_shown(scored.loss), f"{metric.better_word} is better"]
    shown = f"{metric.shown(scored.loss)} ({'; '.join(filter(None, notes))})"
    table.add_row(printable(metric.name), shown)
    for name, value in scored.figures.items():
        table.add_row(printable(name), f"{value:.6g}")
    table.add_row("time", duration(scored.seconds))
    stdout().print(table)


def print_summary(found: Evaluation) -> None:
    """A language model's loss on a text."""
    metric, table = found.trained.task.metric, _facts()
    table.add_row("run", printable(_name(found.trained)))
    table.add_row("text", _text(found))
    mean = found.words.mean
    bits = f"{mean / math.log(2):.4f} bits"
    table.add_row(metric.name, f"{metric.shown(mean)} ({metric.loss_shown(mean)}, {bits})")
    table.add_row("time", duration(found.seconds))
    stdout().print(table)


def _facts() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _name(trained: Trained) -> str:
    folder = trained.folder
    cell = folder.info.cell.name or folder.info.cell.id
    return f"{folder.path} ({cell}, epoch {trained.epoch:,})"


def _text(found: Evaluation) -> str:
    text = found.text
    line = f"{text.corpus.name} {text.part}, {found.words.tokens:,} words"
    if text.unknown:
        line += f"; {text.unknown:,} are not in the vocabulary and count as <unk>"
    return printable(line)


def print_classes(found: Evaluation) -> None:
    """Losses by the words' counts in the training text."""
    from cellwright.tasks.language.words import by_frequency

    words = found.words
    table = _table("in training", "words", "here", "of text", "loss", "of loss")
    for group in by_frequency(words):
        table.add_row(
            group.label,
            f"{group.types:,}",
            f"{group.tokens:,}",
            share(group.tokens, words.tokens),
            loss(group.mean),
            share(group.loss, words.losses.sum()),
        )
    _print_table(BY_FREQUENCY, table)


def print_costliest(found: Evaluation, top: int) -> None:
    """The words that make up most of the loss."""
    from cellwright.tasks.language.words import costliest

    words = found.words
    table = _table("word", "in training", "here", "loss", "of loss")
    for word in costliest(words, top).tolist():
        table.add_row(
            *_counts(found, word),
            loss(words.means[word]),
            share(words.losses[word], words.losses.sum()),
        )
    _print_table("the words that cost most in all", table)


def print_both(found: Evaluation, other: Evaluation) -> None:
    """Two language models on a text."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for name, entry in (("run", found), ("against", other)):
        shown = entry.trained.task.metric.shown(entry.words.mean)
        table.add_row(name, shown, printable(_name(entry.trained)))
    change = found.words.mean - other.words.mean
    table.add_row(
        "difference", f"{change:+.4f}", f"{found.trained.task.metric.unit}; negative is better"
    )
    table.add_row("text", "", _text(found))
    stdout().print(table)
    own = other.trained.folder.info.recipe.training.evaluation_batch
    if own != other.batch:
        note = f"{other.trained.folder.path} was measured in {own} columns in training, here in "
        note += f"{other.batch} as the other run, which moves its loss a little"
        stdout().print(printable(note), style="dim", soft_wrap=True)


def print_compared_classes(found: Evaluation, other: Evaluation) -> None:
    """Two models' losses by the words' counts in the training text."""
    from cellwright.tasks.language.words import by_frequency

    whole = found.words.losses.sum() - other.words.losses.sum()
    columns = ("here", "of text", "loss", "against", "difference", "of change")
    table = _table("in training", "words", *columns)
    pairs = zip(by_frequency(found.words), by_frequency(other.words), strict=True)
    for group, against in pairs:
        table.add_row(
            group.label,
            f"{group.types:,}",
            f"{group.tokens:,}",
            share(group.tokens, found.words.tokens),
            loss(group.mean),
            loss(against.mean),
            _signed(group.mean - against.mean),
            share(group.loss - against.loss, whole),
        )
    _print_table(BY_FREQUENCY, table)


def print_compared_words(found: Evaluation, other: Evaluation, top: int, least: int) -> None:
    """Two models' losses for some words (ESS, Table 3)."""
    from cellwright.tasks.language.words import differences, most_frequent, most_improved

    change = differences(found.words, other.words)
    frequent = most_frequent(found.words, top)
    improved = most_improved(found.words, other.words, top, least)
    times = "" if least == 1 else f", of those that occur {least} times or more"
    for title, chosen in (
        (f"the words with the best improvements{times}", improved),
        ("the most frequent words", frequent),
    ):
        table = _table("word", "in training", "here", "loss", "against", "difference")
        for word in chosen.tolist():
            losses = (loss(entry.words.means[word]) for entry in (found, other))
            table.add_row(*_counts(found, word), *losses, _signed(change[word]))
        _print_table(title, table)


def _signed(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:+.3f}"


def _counts(found: Evaluation, word: int) -> tuple[str, str, str]:
    words = found.words
    trained, here = int(words.vocabulary.counts[word]), int(words.counts[word])
    return printable(words.vocabulary.token(word)), f"{trained:,}", f"{here:,}"


def _table(first: str, second: str, *more: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold", min_width=13)
    for name in (second, *more):
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _print_table(title: str, table: Table) -> None:
    console = stdout()
    console.print()
    console.print(title, style="bold cyan", soft_wrap=True)
    console.print(table if table.row_count else "none")
