"""Small files in the official forms of GLUE and SICK, and of one's own."""

from __future__ import annotations

from pathlib import Path

from cellwright.data.labelled import Labelled

BOM = "\ufeff"


def table(*rows: str, end: str = "\n") -> str:
    """Rows with ` | ` for tabs."""
    return "".join(row.replace(" | ", "\t") + end for row in rows)


PAIRS = table(
    "index | sentence1 | sentence2 | label",
    '0 | The "cat sat. | A cat sat. | {yes}',
    "1 | It rained. | It was dry. | {no}",
    "2 | He won't go. | He stays. | {yes}",
)
TEST_PAIRS = table("index | sentence1 | sentence2", "0 | It snowed. | It was cold.")
MRPC = BOM + table(
    "Quality | #1 ID | #2 ID | #1 String | #2 String",
    '1 | 7 | 8 | He said " yes . | " Yes , " he said .',
    "0 | 9 | 10 | Shares rose . | Shares fell .",
    "1 | 11 | 12 | Rain fell . | It rained .",
)
STS = table(
    "main-captions | MSRvid | 2012test | 0001 | 5.000 | A plane flies. | A plane is flying.",
    "main-news | MSRpar | 2012train | 0002 | 0.750 | He ran. | They slept. | here | there",
    "main-news | MSRpar | 2012train | 0003 | 2 | She sings. | A girl sings.",
)
STS_GLUE = table(
    "index | genre | filename | year | old_index | source1 | source2 | sentence1 | sentence2"
    " | score",
    "0 | main | MSRvid | 2012 | 0001 | none | none | A plane flies. | A plane is flying. | 5.000",
    "1 | main | MSRpar | 2012 | 0002 | none | none | He ran. | They slept. | 0.750",
    "2 | main | MSRpar | 2012 | 0003 | none | none | She sings. | A girl sings. | 2",
)
SICK = table(
    "pair_ID | sentence_A | sentence_B | relatedness_score | entailment_judgment",
    "1 | A dog runs | A dog is running | 4.9 | ENTAILMENT",
    "2 | A dog runs | No dog runs | 3.5 | CONTRADICTION",
    "3 | A dog runs | A man eats | 1 | NEUTRAL",
)
SICK_WHOLE = table(
    "pair_ID | sentence_A | sentence_B | entailment_label | relatedness_score | entailment_AB"
    " | entailment_BA | sentence_A_original | sentence_B_original | sentence_A_dataset"
    " | sentence_B_dataset | SemEval_set",
    *(
        f"{number} | {sentences} | {label} | {score} | A_B | B_A | x | x | FLICKR | FLICKR | {part}"
        for part in ("TRIAL", "TRAIN", "TEST")
        for number, sentences, label, score in (
            (1, f"A {part} runs | A dog is running", "ENTAILMENT", 4.9),
            (2, f"A {part} runs | No dog runs", "CONTRADICTION", 3.5),
            (3, f"A {part} runs | A man eats", "NEUTRAL", 1),
        )
    ),
)
_PARSES = " | ".join(["(x)"] * 4)
MNLI_TRAIN = table(
    "index | promptID | pairID | genre | sentence1_binary_parse | sentence2_binary_parse | "
    "sentence1_parse | sentence2_parse | sentence1 | sentence2 | label1 | gold_label",
    f"0 | 1 | 1n | fiction | {_PARSES} | She left. | She went away. | neutral | neutral",
    f"1 | 2 | 2e | fiction | {_PARSES} | He ate. | He ate it. | entailment | entailment",
    f"2 | 3 | 3c | fiction | {_PARSES} | He slept. | He ran. | contradiction | contradiction",
)


def mnli_dev(genre: str) -> str:
    """A dev file: four more labels of people before the one that counts."""
    return table(
        "index | promptID | pairID | genre | sentence1_binary_parse | sentence2_binary_parse | "
        "sentence1_parse | sentence2_parse | sentence1 | sentence2 | label1 | label2 | label3 | "
        "label4 | label5 | gold_label",
        f"0 | 1 | 1n | {genre} | {_PARSES} | In {genre} | Out | " + "neutral | " * 5 + "neutral",
        f"1 | 2 | 2n | {genre} | {_PARSES} | Unclear | Odd | " + "neutral | " * 5 + "-",
    )


MNLI_TEST = table(
    "index | promptID | pairID | genre | sentence1_binary_parse | sentence2_binary_parse | "
    "sentence1_parse | sentence2_parse | sentence1 | sentence2",
    f"0 | 1 | 1 | fiction | {_PARSES} | In | Out",
)
QQP = table(
    "id | qid1 | qid2 | question1 | question2 | is_duplicate",
    "1 | 2 | 3 | Who is it? | Who is that? | 1",
    "4 | 5 | 6 | Why broken",
    "over two lines? | What? | 0",
    "7 | 8 | 9 | Why? |  | 0",
    "10 | 11 | 12 | When? | At what time? | 1",
    "13 | 14 | 15 | How? | Where? | 0",
)
ENTAILED = {"yes": "entailment", "no": "not_entailment"}
QUESTIONS = PAIRS.replace("sentence1", "question").replace("sentence2", "sentence")

OFFICIAL: dict[str, dict[str, str]] = {
    "CoLA": {
        "train.tsv": table(
            "gj04 | 1 |  | Bill left.", "gj04 | 0 | * | Left bill.", "x | 1 |  | He's in."
        ),
        "dev.tsv": table("gj04 | 0 | * | Bill bill."),
        "test.tsv": table("index | sentence", "0 | Bill whistled."),
    },
    "SST-2": {
        "train.tsv": table("sentence | label", "so good  | 1", 'a "bad film | 0', "fine | 1"),
        "dev.tsv": table("sentence | label", "dull  | 0"),
        "test.tsv": table("index | sentence", "0 | uneasy mishmash"),
    },
    "MRPC": {
        "train.tsv": MRPC,
        "dev.tsv": MRPC,
        "test.tsv": table(
            "index | #1 ID | #2 ID | #1 String | #2 String", "0 | 1 | 2 | A man . | A woman ."
        ),
        "msr_paraphrase_train.txt": MRPC.replace("\n", "\r\n"),
        "msr_paraphrase_test.txt": MRPC,
    },
    "QQP": {
        "train.tsv": QQP,
        "dev.tsv": QQP,
        "test.tsv": table("id | question1 | question2", "0 | Who? | What?"),
    },
    "STS-B": {
        "train.tsv": STS_GLUE,
        "dev.tsv": STS_GLUE,
        "test.tsv": "\n".join(row.rpartition("\t")[0] for row in STS_GLUE.splitlines()),
        "sts-train.csv": STS,
        "sts-dev.csv": STS,
        "sts-test.csv": STS,
    },
    "MNLI": {
        "train.tsv": MNLI_TRAIN,
        "dev_matched.tsv": mnli_dev("fiction"),
        "dev_mismatched.tsv": mnli_dev("letters"),
        "test_matched.tsv": MNLI_TEST,
        "test_mismatched.tsv": MNLI_TEST,
    },
    "QNLI": {
        "train.tsv": QUESTIONS.format(**ENTAILED),
        "dev.tsv": QUESTIONS.format(**ENTAILED),
        "test.tsv": table("index | question | sentence", "0 | Who? | He."),
    },
    "RTE": {
        "train.tsv": PAIRS.format(**ENTAILED),
        "dev.tsv": PAIRS.format(**ENTAILED),
        "test.tsv": TEST_PAIRS,
    },
    "WNLI": {
        "train.tsv": PAIRS.format(yes=1, no=0),
        "dev.tsv": PAIRS.format(yes=1, no=0),
        "test.tsv": TEST_PAIRS,
    },
    "diagnostic": {"diagnostic.tsv": TEST_PAIRS},
}

SICK_FILES = {
    "SICK_train.txt": SICK,
    "SICK_trial.txt": SICK,
    "SICK_test_annotated.txt": SICK.replace("\n", "\r\n"),
}

OWN = {
    "train": table("sentence | label", "so good | yes", "so bad | no", "fine | yes"),
    "valid": table("sentence | label", "so fine | yes"),
    "test": table("sentence | label", "bad news | no"),
}


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Write files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def glue(folder: Path) -> Path:
    """Write all official files, as GLUE's archives and SICK's have them, and return the folder."""
    for name, files in OFFICIAL.items():
        put(folder / "glue" / name, dict(files))
    put(folder / "sick", dict(SICK_FILES))
    return folder


def own(folder: Path, ending: str = ".tsv", **parts: str | bytes | None) -> Path:
    """Write three files of one's own: the small ones, but for the parts that are given."""
    texts = {**OWN, **parts}
    return put(
        folder, {f"{part}{ending}": text for part, text in texts.items() if text is not None}
    )


def read(found: Labelled, part: str = "train") -> list[tuple[str, ...]]:
    """Each example: its sentences, words apart by spaces, and at last its label or score."""
    rows = []
    examples = getattr(found, part)
    for at in range(len(examples)):
        sentences, target = examples[at]
        labels = found.target.labels
        label = labels[int(target)] if labels else f"{target:g}"
        rows.append((*(" ".join(found.vocabulary.decode(each)) for each in sentences), label))
    return rows
