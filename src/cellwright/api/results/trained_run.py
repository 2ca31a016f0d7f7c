"""A training, and what its weights are worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.api.results.shown import Cost, Shown
from cellwright.cell import Cell
from cellwright.report.drawing import PlotError
from cellwright.report.run_plots import Curve, picture
from cellwright.runs.curves import curve_of
from cellwright.runs.folder import RunFolder
from cellwright.tasks.metric import Metric
from cellwright.tasks.task import Part
from cellwright.training.advice import advice
from cellwright.training.results import EpochRecord, Result, best_of

if TYPE_CHECKING:
    from cellwright.data import Vocabulary
    from cellwright.models.cell_model import CellModel
    from cellwright.tasks.language.writer import TextWriter
    from cellwright.tasks.sentences.use import Predictor
    from cellwright.tasks.tagging.use import SentenceTagger


@dataclass(frozen=True, repr=False)
class TrainedRun(Shown):
    """A training in its folder, whether or not it has ended."""

    folder: RunFolder

    @property
    def path(self) -> Path:
        """Where everything is kept."""
        return self.folder.path

    @cached_property
    def cell(self) -> Cell:
        """What was trained."""
        return self.folder.cell()

    @property
    def metric(self) -> Metric:
        """What its losses are shown as."""
        return self.folder.info.metric

    @cached_property
    def result(self) -> Result | None:
        """The figures, once it has ended."""
        return self.folder.result()

    @cached_property
    def curve(self) -> tuple[EpochRecord, ...]:
        """One record for each epoch, with losses."""
        return curve_of(self.folder)

    @property
    def status(self) -> str:
        """ "ok", "exploded" or "loss is nan" if it has ended; else what has become of it."""
        return self.folder.state if self.result is None else self.result.status

    @property
    def advice(self) -> str | None:
        """What to change if it diverged; None if it did not."""
        if self.result is None:
            return None
        rate = self.folder.info.recipe.training.learning_rate
        return advice(self.result.status, "training", rate)

    @property
    def valid(self) -> float:
        """The metric on the validation data, at the best epoch; NaN if there is none."""
        best = best_of(self.curve)
        return math.nan if best is None else self.metric.value(best.valid)

    @property
    def test(self) -> float:
        """The metric on the test data, at the epoch that validated best; NaN if there is none."""
        best = best_of(self.curve)
        return math.nan if best is None else self.metric.value(best.test)

    @property
    def cost(self) -> Cost:
        """What it took."""
        if self.result is not None:
            found = self.result
            return Cost(found.seconds, found.parameters, found.peak_memory)
        if not self.curve:
            return Cost(0.0)
        return Cost(self.curve[-1].seconds, None, self.curve[-1].peak_memory)

    @cached_property
    def model(self) -> CellModel[Any]:
        """The trained model, with the weights of the best epoch: a `torch.nn.Module`.

        The run's folder is enough; its data need not be there.
        """
        from cellwright.runs.trained import load_trained

        return load_trained(self.path, alone=True).model.eval()

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of a language model, in the order of their numbers.

        Raises:
            UserError: it is no language model.
        """
        from cellwright.runs.texts import vocabulary_of
        from cellwright.runs.trained import load_trained

        return vocabulary_of(load_trained(self.path, alone=True))

    @cached_property
    def tagger(self) -> SentenceTagger:
        """The trained tagger, for any sentences: `run.tagger.tag(sentences)`.

        Raises:
            UserError: it is no tagger.
        """
        from cellwright.runs.taggers import load_tagger

        return load_tagger(self.path)

    @cached_property
    def predictor(self) -> Predictor:
        """The trained model of sentences, for any of them: `run.predictor.predict(examples)`.

        Raises:
            UserError: it has learned another task.
        """
        from cellwright.runs.predictors import load_predictor

        return load_predictor(self.path)

    @cached_property
    def writer(self) -> TextWriter:
        """The trained language model, ready to write.

        Raises:
            UserError: it is no language model.
        """
        from cellwright.runs.writers import load_writer

        return load_writer(self.path)

    def generate(
        self,
        prompt: str = "",
        *,
        words: int = 100,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 0,
        unk: bool = False,
    ) -> Iterator[str]:
        """Words that a language model goes on with, one by one; an end of a line is `"\\n"`.

        The run's folder is enough. The same seed gives the same words, whatever the number of
        threads.

        Args:
            prompt: what stands before; the beginning of a line if it is empty.
            words: how many; an end of a line counts as one.
            temperature: below 1 likely words become likelier; 0 takes the likeliest.
            top_k: draw from so many of the likeliest words; 0 for all.
            top_p: draw from the fewest words that together have this share of the chances.
            seed: decides what is drawn.
            unk: whether `<unk>`, which stands for every rare word, may be drawn.

        Raises:
            UserError: it is no language model, or a value is none that it can have.
        """
        return self.writer.generate(
            prompt, words=words, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed,
            unk=unk,
        )  # fmt: skip

    def next_word_probabilities(self, prompt: str = "", top: int | None = 10) -> dict[str, float]:
        """The words that a language model holds for likeliest to come next, likeliest first.

        Args:
            prompt: what stands before.
            top: how many; None for all words of the model.

        Raises:
            UserError: it is no language model.
        """
        return self.writer.next_word_probabilities(prompt, top)

    @property
    def title(self) -> str:
        """Cell, data, status and what came out."""
        info = self.folder.info
        what = f"{info.cell.name or info.cell.id} on {Path(info.data.name).name}: {self.status}"
        if not self.curve:
            return what
        shown = self.metric.written
        return f"{what}, {self.metric.name} {shown(self.valid)} valid, {shown(self.test)} test"

    def rows(self) -> list[dict[str, Any]]:
        """One for each epoch; values are the metric's."""
        value = self.metric.value
        return [
            {
                "epoch": record.epoch,
                "train": value(record.train),
                "valid": value(record.valid),
                "test": value(record.test),
                "learning_rate": record.learning_rate,
                "seconds": record.seconds,
            }
            for record in self.curve
        ]

    def _picture(self) -> str | None:
        name = self.folder.info.cell.name or self.folder.info.cell.id
        try:
            return picture([Curve(name, self.curve, self.metric)], "svg").decode()
        except PlotError:
            return None


@dataclass(frozen=True)
class Evaluation:
    """What a run's best weights are worth on some data."""

    metric: Metric
    part: Part
    loss: float
    figures: Mapping[str, float]
    epoch: int

    @property
    def value(self) -> float:
        """The metric."""
        return self.metric.value(self.loss)

    def __str__(self) -> str:
        return f"{self.metric.name} {self.metric.shown(self.loss)} on {self.part}"
