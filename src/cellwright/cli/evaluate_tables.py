"""What `cellwright evaluate` prints for people: a model's figures, alone or beside another's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cellwright.cli.figures import duration, loss, share
from cellwright.cli.output import say, stdout
from cellwright.cli.tables import Column, Listing, print_facts

if TYPE_CHECKING:
    from cellwright.runs.texts import Evaluation
    from cellwright.runs.trained import Trained
    from cellwright.tasks.details import Details

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
    metric = scored.trained.task.metric
    first = scored.trained.task.describe().splitlines()[0]
    notes = [metric.loss_shown(scored.loss), f"{metric.better_word} is better"]
    shown = f"{metric.shown(scored.loss)} ({'; '.join(filter(None, notes))})"
    print_facts(
        [
            ("run", _name(scored.trained)),
            ("data", f"{first}; {scored.part}"),
            (metric.name, shown),
            *((name, f"{value:.6g}") for name, value in scored.figures.items()),
            ("time", duration(scored.seconds)),
        ]
    )


def print_beside(scored: Scored, other: Scored, details: Details) -> None:
    """Another model of the same task, how much better this one is, and where."""
    metric = scored.trained.task.metric
    change = metric.value(scored.loss) - metric.value(other.loss)
    shown = f"{metric.written(abs(change))} {'better' if scored.loss < other.loss else 'worse'}"
    stdout().print()
    print_facts(
        [
            ("against", _name(other.trained)),
            (metric.name, metric.shown(other.loss)),
            ("the run is", "as good" if scored.loss == other.loss else shown),
            *details.facts,
        ]
    )
    print_details(details)


def print_details(details: Details) -> None:
    """The tables that a kind of task has of a model beside its score."""
    for table in details.tables:
        listing = Listing(
            *(
                Column(name, right=place >= table.texts, short="fold" if place else "")
                for place, name in enumerate(table.columns)
            )
        )
        for row in table.rows:
            listing.add(*row)
        _print_table(table.title, listing)


def print_summary(found: Evaluation) -> None:
    """A language model's loss on a text."""
    metric, mean = found.trained.task.metric, found.words.mean
    bits = f"{mean / math.log(2):.4f} bits"
    print_facts(
        [
            ("run", _name(found.trained)),
            ("text", _text(found)),
            (metric.name, f"{metric.shown(mean)} ({metric.loss_shown(mean)}, {bits})"),
            ("time", duration(found.seconds)),
        ]
    )


def _name(trained: Trained) -> str:
    folder = trained.folder
    cell = folder.info.cell.name or folder.info.cell.id
    return f"{folder.path} ({cell}, epoch {trained.epoch:,})"


def _text(found: Evaluation) -> str:
    text = found.text
    line = f"{text.corpus.name} {text.part}, {found.words.tokens:,} words"
    if text.unknown:
        line += f"; {text.unknown:,} are not in the vocabulary and count as <unk>"
    return line


def print_classes(found: Evaluation) -> None:
    """Losses by the words' counts in the training text."""
    from cellwright.tasks.language.words import by_frequency

    words = found.words
    table = _table("in training", "words", "here", "of text", "loss", "of loss")
    for group in by_frequency(words):
        table.add(
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
        table.add(
            *_counts(found, word),
            loss(words.means[word]),
            share(words.losses[word], words.losses.sum()),
        )
    _print_table("the words that cost most in all", table)


def print_both(found: Evaluation, other: Evaluation) -> None:
    """Two language models on a text."""
    metric = found.trained.task.metric
    values = [entry.trained.task.metric.shown(entry.words.mean) for entry in (found, other)]
    change = f"{found.words.mean - other.words.mean:+.4f}"
    wide = max(map(len, (*values, change)))
    print_facts(
        [
            ("run", f"{values[0]:>{wide}}  {_name(found.trained)}"),
            ("against", f"{values[1]:>{wide}}  {_name(other.trained)}"),
            ("difference", f"{change:>{wide}}  {metric.unit}; negative is better"),
            ("text", _text(found)),
        ]
    )
    own = other.trained.folder.info.recipe.training.evaluation_batch
    if own != other.batch:
        note = f"{other.trained.folder.path} was measured in {own} columns in training, here in "
        note += f"{other.batch} as the other run, which moves its loss a little"
        say(note, "dim")


def print_compared_classes(found: Evaluation, other: Evaluation) -> None:
    """Two models' losses by the words' counts in the training text."""
    from cellwright.tasks.language.words import by_frequency

    whole = found.words.losses.sum() - other.words.losses.sum()
    columns = ("here", "of text", "loss", "against", "difference", "of change")
    table = _table("in training", "words", *columns)
    pairs = zip(by_frequency(found.words), by_frequency(other.words), strict=True)
    for group, against in pairs:
        table.add(
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
            table.add(*_counts(found, word), *losses, _signed(change[word]))
        _print_table(title, table)


def _signed(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:+.3f}"


def _counts(found: Evaluation, word: int) -> tuple[str, str, str]:
    words = found.words
    trained, here = int(words.vocabulary.counts[word]), int(words.counts[word])
    return words.vocabulary.token(word), f"{trained:,}", f"{here:,}"


_STAY = ("loss", "difference")
"""The columns for which tables of words are there."""

_LAST = ("words", "of text", "in training", "here", "against", "of loss", "of change")
"""The others, in the order in which they go."""


def _table(*names: str) -> Listing:
    first, *others = names
    ranks = {name: len(_LAST) - place for place, name in enumerate(_LAST)}
    return Listing(
        Column(first),
        *(Column(name, 0 if name in _STAY else ranks[name], right=True) for name in others),
    )


def _print_table(title: str, table: Listing) -> None:
    console = stdout()
    console.print()
    say(title, "bold cyan")
    console.print(table if table.rows else "none")
