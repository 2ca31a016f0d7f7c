"""`cellwright generate`: text from a trained language model."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.cli.help import examples
from cellwright.cli.options import Seed
from cellwright.cli.output import count, emit_json, encoded, harmless, say, stderr
from cellwright.cli.runs.options import RUN_HELP, TRAIN, Json, Runs

if TYPE_CHECKING:
    from cellwright.tasks.language.writer import Position, TextWriter

EXAMPLES = examples(
    TRAIN,
    ("how it goes on", 'cellwright generate gru --prompt "the value of"'),
    ("likely words only", "cellwright generate gru --temperature 0.7 --top-p 0.9 --words 40"),
    ("three texts, for programs", "cellwright generate gru --samples 3 --json"),
)

MOST = 1_000_000
"""The most words, or texts, that anybody could mean."""


def run(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    prompt: Annotated[
        str, typer.Option("--prompt", "-p", metavar="TEXT", help="What the text begins with.")
    ] = "",
    words: Annotated[
        int, typer.Option("--words", "-n", metavar="N", min=1, max=MOST, help="How many to write.")
    ] = 100,
    temperature: Annotated[
        float,
        typer.Option(
            metavar="T",
            min=0.0,
            help="Below 1 likely words become likelier; 0 always takes the likeliest.",
        ),
    ] = 1.0,
    top_k: Annotated[
        int, typer.Option(metavar="K", min=0, help="Draw from the K likeliest words; 0: from all.")
    ] = 0,
    top_p: Annotated[
        float,
        typer.Option(
            metavar="P",
            min=0.0,
            max=1.0,
            help="Draw from the fewest words that have this share of the chances together.",
        ),
    ] = 1.0,
    seed: Seed = 0,
    samples: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=MOST, help="How many texts; each next one has the next seed."
        ),
    ] = 1,
    unk: Annotated[
        bool,
        typer.Option("--unk/--no-unk", help="Whether <unk>, any rare word, may be written."),
    ] = False,
    as_json: Json = False,
    runs: Runs = Path("runs"),
) -> None:
    """Let a trained language model write.

    The words appear as they are drawn, behind the prompt. An end of a line, which
    the model draws like a word and which counts as one, is a line break. The
    prompt is cut into words as the model knows them; those that it does not
    know are read as <unk>, and are named. The run's folder is enough: the text
    that the model has learned from need not be there.

    The same seed gives the same text. In Python cw.load(RUN) has generate and
    next_word_probabilities.
    """
    from cellwright.runs.writers import load_writer

    writer = load_writer(run, runs=runs)
    start = writer.read(prompt)
    if start.unknown:
        many = count(len(start.unknown), "word")
        say(f"read as <unk>: {many} of the prompt: {', '.join(start.unknown)}", "dim", stderr())
    settings: dict[str, Any] = {
        "words": words, "temperature": temperature, "top_k": top_k, "top_p": top_p, "unk": unk,
    }  # fmt: skip
    seeds = range(seed, seed + samples)
    if as_json:
        texts = [_sample(writer, start, prompt, one, settings) for one in seeds]
        about = {"run": run, "prompt": prompt, "unknown": list(start.unknown)}
        emit_json({**about, **settings, "samples": texts})
        return
    for number, one in enumerate(seeds):
        if samples > 1:
            _write(["\n"] * bool(number) + [f"== seed {one}\n"])
        found = writer.generate(start, seed=one, **settings)
        _write([prompt])
        _write(writer.text(found, begun=_begun(prompt)))
        _write(["\n"])


def _sample(
    writer: TextWriter, start: Position, prompt: str, seed: int, settings: dict[str, Any]
) -> dict[str, Any]:
    words = list(writer.generate(start, seed=seed, **settings))
    text = "".join(writer.text(words, begun=_begun(prompt)))
    return {"seed": seed, "text": prompt + text, "words": words}


def _begun(prompt: str) -> bool:
    """Whether a word behind the prompt needs a space before it."""
    return not (prompt[-1:] or " ").isspace()


def _write(texts: Iterable[str]) -> None:
    """Print pieces of text as they come."""
    terminal = sys.stdout.isatty()
    for text in texts:
        sys.stdout.buffer.write(encoded(harmless(text) if terminal else text))
        sys.stdout.flush()
