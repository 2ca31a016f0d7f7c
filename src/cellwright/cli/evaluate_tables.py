"""What `cellwright evaluate` prints for people: a model's figures, alone or beside another's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.table import Table

from cellwright.cli.figures import duration, loss, perplexity, share
from cellwright.cli.output import printable, stdout

if TYPE_CHECKING:
    from cellwright.runs.texts import Evaluation

BY_FREQUENCY = "by how often the training text has a word"


def print_summary(found: Evaluation) -> None:
    """A model's perplexity on a text."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("run", printable(_name(found)))
    table.add_row("text", _text(found))
    mean = found.words.mean
    bits = f"{mean / math.log(2):.4f} bits"
    table.add_row("perplexity", f"{perplexity(mean)} ({loss(mean)} nats, {bits} a word)")
    table.add_row("time", duration(found.seconds))
    stdout().print(table)


def _name(found: Evaluation) -> str:
    folder = found.trained.folder
    cell = folder.info.cell.name or folder.info.cell.id
    return f"{folder.path} ({cell}, epoch {found.trained.epoch:,})"


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
    """The perplexities of two models."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for name, entry in (("run", found), ("against", other)):
        table.add_row(name, perplexity(entry.words.mean), printable(_name(entry)))
    change = found.words.mean - other.words.mean
    table.add_row("difference", f"{change:+.4f}", "nats a word; negative is better")
    table.add_row("text", "", _text(found))
    stdout().print(table)
    own = other.trained.folder.info.recipe.training.evaluation_batch
    if own != other.batch:
        note = f"{other.trained.folder.path} was measured in {own} columns in training, here in "
        note += f"{other.batch} as the other run, which moves its perplexity a little"
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
