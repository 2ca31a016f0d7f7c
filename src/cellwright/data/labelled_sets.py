"""The table of sentences and pairs with labels or scores that are known by name: GLUE and SICK.

It says how the official files look: their names, headers and columns, which labels there are, in
which range scores lie, and how many rows each file has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cellwright.data.registry import File, Known


@dataclass(frozen=True)
class Form:
    """How the rows of a file look.

    Columns are named as the header names them; without a header they are numbered from 1 on, and
    rows have one of the numbers of columns in `widths`, or as many as the first. Only commas and
    semicolons come with quotation marks. `broken` rows, with too few or too many columns, are
    left out and counted; otherwise they are an error. Rows whose label is `unlabelled` are left
    out as well. In a file with several parts `part_column` says of which part a row is, and only
    rows with `part` in it are read.
    """

    first: str | int
    second: str | int | None = None
    label: str | int | None = None
    separator: str = "tabs"
    header: bool = True
    widths: tuple[int, ...] = ()
    broken: bool = False
    unlabelled: str = ""
    part_column: str = ""
    part: str = ""

    @property
    def per_example(self) -> int:
        """Sentences of an example."""
        return 1 if self.second is None else 2


Layout = Mapping[str, tuple[str, ...]]
"""For each part the file names that it may have, the best first."""


@dataclass(frozen=True)
class KnownLabelled(Known):
    """Sentences or pairs with labels or scores that are known by name.

    `folders` are where it may be in `CELLWRIGHT_DATA`. A layout that names a test file is one with
    public labels. `part_names` are what parts are called in a file that has several. `hidden` are
    files without labels, by the name that their predictions have in a submission to GLUE. `rows`
    are the published numbers of examples, by the file, or by the file and the part in it.
    """

    folders: tuple[str, ...] = ()
    layouts: tuple[Layout, ...] = ()
    mismatched: tuple[str, ...] = ()
    forms: Mapping[str, Form] = field(default_factory=dict)
    part_names: Mapping[str, str] = field(default_factory=dict)
    hidden: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    lowest: float = 0.0
    highest: float = 0.0
    metrics: tuple[str, ...] = ("accuracy",)

    @property
    def per_example(self) -> int:
        """Sentences of an example."""
        return next(iter(self.forms.values())).per_example

    def form(self, file: str, part: str) -> Form:
        """How the rows of a part look in an official file."""
        form = self.forms[file]
        return replace(form, part=self.part_names[part]) if form.part_column else form


_PAIR = Form("sentence1", "sentence2", "label")
_PAIR_TEST = Form("sentence1", "sentence2")
_MRPC = Form("#1 String", "#2 String", "Quality")
_SICK = Form("sentence_A", "sentence_B", "relatedness_score")
_SICK_E = Form("sentence_A", "sentence_B", "entailment_judgment")
_SICK_WHOLE = replace(_SICK, part_column="SemEval_set")
_SICK_E_WHOLE = replace(_SICK_WHOLE, label="entailment_label")
_STS = Form(6, 7, 5, header=False, widths=(7, 9))
_QQP = Form("question1", "question2", "is_duplicate", broken=True)
_MNLI = Form("sentence1", "sentence2", "gold_label", unlabelled="-")
_MNLI_JSON = Form("premise", "hypothesis", "label", separator="json")
_MULTINLI = Form("sentence1", "sentence2", "gold_label", separator="json", unlabelled="-")

_TRAIN_DEV: Layout = {"train": ("train.tsv",), "valid": ("dev.tsv",)}
_BINARY = ("0", "1")
_ENTAILED = ("entailment", "not_entailment")


def _glue(folder: str) -> tuple[str, ...]:
    return (f"glue/{folder}", folder, folder.lower())


def _address(archive: str) -> tuple[str, ...]:
    return (f"https://dl.fbaipublicfiles.com/glue/data/{archive}.zip",)


def _three(train: Form, test: Form) -> dict[str, Form]:
    return {"train.tsv": train, "dev.tsv": train, "test.tsv": test}


def _rows(train: int, dev: int, test: int) -> dict[str, int]:
    return {"train.tsv": train, "dev.tsv": dev, "test.tsv": test}


_MRPC_HOW = """\
mrpc is licensed by Microsoft for research, and cellwright does not download it
Those who have accepted the licence (microsoft.com/en-us/download/details.aspx?id=52398) and have
msr_paraphrase_train.txt and msr_paraphrase_test.txt, or GLUE's train.tsv and dev.tsv, in a folder
or an archive, bring them in with
  cellwright data get mrpc --from FOLDER
or set CELLWRIGHT_DATA to the folder that has glue/MRPC"""

_SICK_FILES = ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt")
_SICK_ALL = "SICK.txt"
_SICK_FOLDERS = ("sick", "sick-r", "sick-e", "SICK")
_SICK_PARTS = dict(zip(("train", "valid", "test"), ("TRAIN", "TRIAL", "TEST"), strict=True))
_SICK_LAYOUTS: tuple[Layout, ...] = (
    {part: (file,) for part, file in zip(_SICK_PARTS, _SICK_FILES, strict=True)},
    dict.fromkeys(_SICK_PARTS, (_SICK_ALL,)),
)
# SemEval-2014 has 87 pairs that were left out later, of the file with all parts.
_SICK_ROWS = {
    **dict(zip(_SICK_FILES, (4_500, 500, 4_927), strict=True)),
    f"{_SICK_ALL} TRAIN": 4_439,
    f"{_SICK_ALL} TRIAL": 495,
    f"{_SICK_ALL} TEST": 4_906,
}
_SICK_ADDRESS = ("https://zenodo.org/records/2787612/files/SICK.zip",)
_SICK_HASH = "da272af924399fc2de4889ed55383e38822c10d16c4a949a89d597d09a0b7912"

# The archives' hashes, and the numbers of rows, are those of Hugging Face datasets
# (dataset_infos.json of glue and sick).
_TABLE = (
    KnownLabelled(
        "cola",
        "CoLA, is a sentence grammatical?",
        "fair use",
        urls=_address("CoLA"),
        sha256="f212fcd832b8f7b435fb991f101abf89f96b933ab400603bf198960dfc32cbff",
        folders=_glue("CoLA"),
        layouts=(_TRAIN_DEV,),
        forms=_three(Form(4, label=2, header=False, widths=(4,)), Form("sentence")),
        hidden={"CoLA": "test.tsv"},
        rows=_rows(8_551, 1_043, 1_063),
        labels=_BINARY,
        metrics=("matthews",),
    ),
    KnownLabelled(
        "sst-2",
        "SST-2, is a review of a film positive?",
        "not stated",
        urls=_address("SST-2"),
        sha256="d67e16fb55739c1b32cdce9877596db1c127dc322d93c082281f64057c16deaa",
        folders=_glue("SST-2"),
        layouts=(_TRAIN_DEV,),
        forms=_three(Form("sentence", label="label"), Form("sentence")),
        hidden={"SST-2": "test.tsv"},
        rows=_rows(67_349, 872, 1_821),
        labels=_BINARY,
    ),
    KnownLabelled(
        "mrpc",
        "MRPC, do two sentences of news say the same?",
        "Microsoft, research",
        how=_MRPC_HOW,
        folders=_glue("MRPC"),
        layouts=(
            {**_TRAIN_DEV, "test": ("msr_paraphrase_test.txt",)},
            {"train": ("msr_paraphrase_train.txt",), "test": ("msr_paraphrase_test.txt",)},
            _TRAIN_DEV,
        ),
        forms={
            **_three(_MRPC, Form("#1 String", "#2 String")),
            "msr_paraphrase_train.txt": _MRPC,
            "msr_paraphrase_test.txt": _MRPC,
        },
        hidden={"MRPC": "test.tsv"},
        rows={
            **_rows(3_668, 408, 1_725),
            "msr_paraphrase_train.txt": 4_076,
            "msr_paraphrase_test.txt": 1_725,
        },
        labels=_BINARY,
        metrics=("accuracy", "f1"),
    ),
    KnownLabelled(
        "qqp",
        "QQP, do two questions ask the same?",
        "Quora, non-commercial",
        urls=_address("QQP-clean"),
        sha256="40e7c862c04eb26ee04b67fd900e76c45c6ba8e6d8fab4f8f1f8072a1a3fbae0",
        folders=_glue("QQP"),
        layouts=(_TRAIN_DEV,),
        forms=_three(_QQP, Form("question1", "question2")),
        hidden={"QQP": "test.tsv"},
        rows=_rows(363_846, 40_430, 390_965),
        labels=_BINARY,
        metrics=("accuracy", "f1"),
    ),
    KnownLabelled(
        "sts-b",
        "STS-B, how alike are two sentences? 0 to 5",
        "CC BY-SA and others",
        urls=_address("STS-B"),
        sha256="e60a6393de5a8b5b9bac5020a1554b54e3691f9d600b775bd131e613ac179c85",
        folders=_glue("STS-B"),
        layouts=(
            {"train": ("sts-train.csv",), "valid": ("sts-dev.csv",), "test": ("sts-test.csv",)},
            {**_TRAIN_DEV, "test": ("sts-test.csv",)},
            _TRAIN_DEV,
        ),
        forms={
            **_three(Form("sentence1", "sentence2", "score"), _PAIR_TEST),
            **dict.fromkeys(("sts-train.csv", "sts-dev.csv", "sts-test.csv"), _STS),
        },
        hidden={"STS-B": "test.tsv"},
        rows={
            **_rows(5_749, 1_500, 1_379),
            "sts-train.csv": 5_749,
            "sts-dev.csv": 1_500,
            "sts-test.csv": 1_379,
        },
        highest=5.0,
        metrics=("pearson", "spearman"),
    ),
    KnownLabelled(
        "mnli",
        "MNLI, does one sentence follow from another?",
        "OANC and others",
        urls=_address("MNLI"),
        sha256="e7c1d896d26ed6caf700110645df426cc2d8ebf02a5ab743d5a5c68ac1c83633",
        files=(
            File(
                "https://dl.fbaipublicfiles.com/glue/data/AX.tsv",
                "0e13510b1bb14436ff7e2ee82338f0efb0133ecf2e73507a697dc210db3f05fd",
            ),
        ),
        folders=_glue("MNLI"),
        layouts=(
            {
                "train": ("train.tsv", "train.jsonl", "multinli_1.0_train.jsonl"),
                "valid": (
                    "dev_matched.tsv", "dev-matched.jsonl", "multinli_1.0_dev_matched.jsonl",
                ),
            },
        ),
        mismatched=(
            "dev_mismatched.tsv", "dev-mismatched.jsonl", "multinli_1.0_dev_mismatched.jsonl",
        ),
        forms={
            **dict.fromkeys(("train.tsv", "dev_matched.tsv", "dev_mismatched.tsv"), _MNLI),
            **dict.fromkeys(
                ("train.jsonl", "dev-matched.jsonl", "dev-mismatched.jsonl"), _MNLI_JSON
            ),
            "multinli_1.0_train.jsonl": _MULTINLI,
            "multinli_1.0_dev_matched.jsonl": _MULTINLI,
            "multinli_1.0_dev_mismatched.jsonl": _MULTINLI,
            "test_matched.tsv": _PAIR_TEST,
            "test_mismatched.tsv": _PAIR_TEST,
            "diagnostic.tsv": _PAIR_TEST,
            "AX.tsv": _PAIR_TEST,
        },
        hidden={
            "MNLI-m": "test_matched.tsv",
            "MNLI-mm": "test_mismatched.tsv",
            "AX": "diagnostic.tsv",
        },
        rows={
            "train.tsv": 392_702,
            "dev_matched.tsv": 9_815,
            "dev_mismatched.tsv": 9_832,
            "dev-matched.jsonl": 9_815,
            "dev-mismatched.jsonl": 9_832,
            "test_matched.tsv": 9_796,
            "test_mismatched.tsv": 9_847,
            "diagnostic.tsv": 1_104,
        },
        labels=("contradiction", "entailment", "neutral"),
    ),
    KnownLabelled(
        "qnli",
        "QNLI, does a sentence answer a question?",
        "CC BY-SA 4.0",
        urls=_address("QNLIv2"),
        sha256="e634e78627a29adaecd4f955359b22bf5e70f2cbd93b493f2d624138a0c0e5f5",
        folders=_glue("QNLI"),
        layouts=(_TRAIN_DEV,),
        forms=_three(Form("question", "sentence", "label"), Form("question", "sentence")),
        hidden={"QNLI": "test.tsv"},
        rows=_rows(104_743, 5_463, 5_463),
        labels=_ENTAILED,
    ),
    KnownLabelled(
        "rte",
        "RTE, does one sentence follow from another?",
        "not stated",
        urls=_address("RTE"),
        sha256="6bf86de103ecd335f3441bd43574d23fef87ecc695977a63b82d5efb206556ee",
        folders=_glue("RTE"),
        layouts=(_TRAIN_DEV,),
        forms=_three(_PAIR, _PAIR_TEST),
        hidden={"RTE": "test.tsv"},
        rows=_rows(2_490, 277, 3_000),
        labels=_ENTAILED,
    ),
    KnownLabelled(
        "wnli",
        "WNLI, what does a pronoun mean?",
        "CC BY 4.0",
        urls=_address("WNLI"),
        sha256="ae0e8e4d16f4d46d4a0a566ec7ecceccfd3fbfaa4a7a4b4e02848c0f2561ac46",
        folders=_glue("WNLI"),
        layouts=(_TRAIN_DEV,),
        forms=_three(_PAIR, _PAIR_TEST),
        hidden={"WNLI": "test.tsv"},
        rows=_rows(635, 71, 146),
        labels=_BINARY,
    ),
    KnownLabelled(
        "sick-r",
        "SICK, how alike are two sentences? 1 to 5",
        "CC BY-NC-SA 3.0",
        urls=_SICK_ADDRESS,
        sha256=_SICK_HASH,
        folders=_SICK_FOLDERS,
        layouts=_SICK_LAYOUTS,
        forms={**dict.fromkeys(_SICK_FILES, _SICK), _SICK_ALL: _SICK_WHOLE},
        part_names=_SICK_PARTS,
        rows=_SICK_ROWS,
        lowest=1.0,
        highest=5.0,
        metrics=("pearson", "spearman"),
    ),
    KnownLabelled(
        "sick-e",
        "SICK, does one sentence follow from another?",
        "CC BY-NC-SA 3.0",
        urls=_SICK_ADDRESS,
        sha256=_SICK_HASH,
        folders=_SICK_FOLDERS,
        layouts=_SICK_LAYOUTS,
        forms={**dict.fromkeys(_SICK_FILES, _SICK_E), _SICK_ALL: _SICK_E_WHOLE},
        part_names=_SICK_PARTS,
        rows=_SICK_ROWS,
        labels=("CONTRADICTION", "ENTAILMENT", "NEUTRAL"),
    ),
)  # fmt: skip

LABELLED: dict[str, KnownLabelled] = {known.name: known for known in _TABLE}
"""The sets of sentences and pairs with labels or scores that have a name."""
