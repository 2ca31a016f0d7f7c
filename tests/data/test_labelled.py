"""Sentences and pairs with labels: official files, one's own, and what becomes of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cellwright import data
from cellwright.base.errors import UserError
from cellwright.data import labelled
from cellwright.data.labelled import LABELLED, Options, Tokenizer, prepare, read_examples
from data.labelled_files import MRPC, OWN, SICK, SICK_WHOLE, STS, glue, own, put, read, table
from tiny_models import tiny_encoder


@pytest.fixture
def all_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CELLWRIGHT_DATA", str(tmp_path / "all"))
    return glue(tmp_path / "all")


def all_read(found: labelled.Labelled) -> list[tuple[str, ...]]:
    return sorted(read(found, "train") + read(found, "valid"))


SICK_ROWS = [
    ("A dog runs", "A dog is running", "4.9", "ENTAILMENT"),
    ("A dog runs", "No dog runs", "3.5", "CONTRADICTION"),
    ("A dog runs", "A man eats", "1", "NEUTRAL"),
]
PAIR_ROWS = [
    ('The " cat sat .', "A cat sat .", "yes"),
    ("It rained .", "It was dry .", "no"),
    ("He wo n't go .", "He stays .", "yes"),
]
MRPC_ROWS = [
    ('He said " yes .', '" Yes , " he said .', "1"),
    ("Shares rose .", "Shares fell .", "0"),
    ("Rain fell .", "It rained .", "1"),
]
STS_ROWS = [
    ("A plane flies .", "A plane is flying .", "5"),
    ("He ran .", "They slept .", "0.75"),
    ("She sings .", "A girl sings .", "2"),
]


@pytest.mark.usefixtures("all_sets")
class TestOfficialFiles:
    def test_cola_has_no_header_in_train_and_dev(self):
        found = labelled.load("cola")
        assert all_read(found) == [("Bill left .", "1"), ("He 's in .", "1"), ("Left bill .", "0")]
        assert read(found, "test") == [("Bill bill .", "0")]
        assert (found.way, found.cut, found.per_example) == ("dev-as-test", True, 1)
        assert found.known is not None
        assert found.known.metrics == ("matthews",)

    def test_sst_2_keeps_quotation_marks(self):
        found = labelled.load("sst-2")
        assert all_read(found) == [('a " bad film', "0"), ("fine", "1"), ("so good", "1")]
        assert read(found, "test") == [("dull", "0")]

    def test_mrpc_has_a_mark_a_test_part_and_carriage_returns(self, all_sets: Path):
        found = labelled.load("mrpc")
        assert found.way == "official"
        assert not found.cut
        assert read(found) == read(found, "valid") == read(found, "test") == MRPC_ROWS
        (all_sets / "glue/MRPC/train.tsv").unlink()
        found = labelled.load("mrpc")
        assert (found.way, found.cut) == ("official", True)
        assert found.found["train"].file == "msr_paraphrase_train.txt"
        assert all_read(found) == sorted(MRPC_ROWS)
        for file in ("msr_paraphrase_train.txt", "msr_paraphrase_test.txt"):
            (all_sets / "glue/MRPC" / file).unlink()
        assert labelled.locate("mrpc").way == "dev-alone"

    def test_qqp_leaves_out_broken_rows_and_says_so(self):
        found = labelled.load("qqp", tokenizer="spaces")
        rows = [
            ("Who is it?", "Who is that?", "1"),
            ("Why?", "<empty>", "0"),
            ("When?", "At what time?", "1"),
            ("How?", "Where?", "0"),
        ]
        assert all_read(found) == sorted(rows)
        assert read(found, "test") == rows
        notes = "\n".join(found.notes())
        assert "train.tsv: 2 rows with too few or too many columns were left out" in notes
        assert "dev.tsv: 1 empty sentences have the one word <empty>" in notes

    def test_sts_b_has_rows_of_seven_and_of_nine_columns(self, all_sets: Path):
        found = labelled.load("sts-b")
        assert read(found) == read(found, "valid") == read(found, "test") == STS_ROWS
        assert found.found["train"].file == "sts-train.csv"
        assert found.target == labelled.Target((), 0.0, 5.0)
        folder = all_sets / "glue/STS-B"
        put(folder / "original", {"sts-test.csv": STS})
        for part in ("train", "dev", "test"):
            (folder / f"sts-{part}.csv").unlink()
        found = labelled.load("sts-b")
        assert [facts.file for facts in found.found.values()] == [
            "train.tsv", "dev.tsv", "sts-test.csv",
        ]  # fmt: skip
        assert read(found) == read(found, "test") == STS_ROWS

    def test_mnli_matched_and_mismatched(self):
        found = labelled.load("mnli", mismatched=True)
        assert all_read(found) == [
            ("He ate .", "He ate it .", "entailment"),
            ("He slept .", "He ran .", "contradiction"),
            ("She left .", "She went away .", "neutral"),
        ]
        assert read(found, "test") == [("In fiction", "Out", "neutral")]
        assert read(found, "mismatched") == [("In letters", "Out", "neutral")]
        assert "dev_matched.tsv: 1 rows without a label were left out" in list(found.notes())
        plain = labelled.load("mnli")
        assert plain.mismatched is None
        assert plain.fingerprint != found.fingerprint

    def test_mnli_in_json_lines(self, tmp_path: Path):
        rows = [
            {"premise": f"It is {n}", "hypothesis": "It was", "label": label}
            for n, label in enumerate(["neutral", "entailment", "contradiction"] * 4)
        ]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        found = labelled.load("mnli", folder=put(tmp_path / "m", {"dev-matched.jsonl": lines}))
        assert found.way == "dev-alone"
        parts = [read(found, part) for part in data.PARTS]
        assert list(map(len, parts)) == [10, 1, 1]
        wanted = sorted((row["premise"], row["hypothesis"], row["label"]) for row in rows)
        assert sorted(row for part in parts for row in part) == wanted

    @pytest.mark.parametrize(("name", "yes", "no"), [
        ("qnli", "entailment", "not_entailment"),
        ("rte", "entailment", "not_entailment"),
        ("wnli", "1", "0"),
    ])  # fmt: skip
    def test_pairs_with_an_index(self, name: str, yes: str, no: str):
        found = labelled.load(name)
        rows = [(*row[:2], {"yes": yes, "no": no}[row[2]]) for row in PAIR_ROWS]
        assert read(found, "test") == rows
        assert all_read(found) == sorted(rows)
        assert set(found.target.labels) == {yes, no}

    def test_sick_has_scores_and_labels(self):
        scores, labels = labelled.load("sick-r"), labelled.load("sick-e")
        for part in data.PARTS:
            assert read(scores, part) == [(*row[:2], row[2]) for row in SICK_ROWS]
            assert read(labels, part) == [(*row[:2], row[3]) for row in SICK_ROWS]
        assert scores.target == labelled.Target((), 1.0, 5.0)

    def test_sick_in_one_file_has_its_parts_in_a_column(self, tmp_path: Path):
        folder = put(tmp_path / "one", {"SICK.txt": SICK_WHOLE})
        scores = labelled.load("sick-r", folder=folder)
        labels = labelled.load("sick-e", folder=folder)
        for part, called in zip(data.PARTS, ("TRAIN", "TRIAL", "TEST"), strict=True):
            rows = [(row[0].replace("dog", called), *row[1:]) for row in SICK_ROWS]
            assert read(scores, part) == [(*row[:2], row[2]) for row in rows]
            assert read(labels, part) == [(*row[:2], row[3]) for row in rows]
            assert scores.found[part].file == f"SICK.txt {called}"

    @pytest.mark.parametrize(
        ("parts", "test"), [("official", "TEST"), ("dev-as-test", "TRIAL"), ("dev-alone", "TRIAL")]
    )
    def test_which_rows_of_one_file_are_test(self, tmp_path: Path, parts: str, test: str):
        header, rows = SICK_WHOLE.split("\n", 1)
        folder = put(tmp_path / "one", {"SICK.txt": f"{header}\n{rows * 4}"})
        found = labelled.load("sick-r", folder=folder, parts=parts)
        assert all(f"A {test} runs" == first for first, _, _ in read(found, "test"))
        train = {first for first, _, _ in read(found, "train")}
        assert train == {"A TRIAL runs" if parts == "dev-alone" else "A TRAIN runs"}

    @pytest.mark.parametrize("name", LABELLED)
    def test_hidden_test_files_are_read_as_sentences(self, name: str):
        known = LABELLED[name]
        here = labelled.hidden_files(name)
        assert here.keys() == known.hidden.keys()
        for path in here.values():
            rows = read_examples(path, name=name, per_example=known.per_example)
            assert rows
            assert all(len(row) == known.per_example and all(row) for row in rows)

    @pytest.mark.parametrize("name", LABELLED)
    def test_files_with_labels_are_read_as_sentences_too(self, name: str):
        located = labelled.locate(name)
        found = labelled.load(name, tokenizer="spaces")
        file = located.source.texts["test"].label
        if name == "qqp":  # each row is to have an answer, so that none can be left out
            with pytest.raises(data.DataError, match=r"line 3 has 4 columns, and should have 6"):
                read_examples(file, name=name)
            return
        rows = read_examples(file, name=name)
        if name != "mnli":  # which leaves out what has no label
            assert [tuple(" ".join(each.split()) or "<empty>" for each in row) for row in rows][
                : len(found.test)
            ] == [row[:-1] for row in read(found, "test")]

    def test_where_a_set_may_be(self, all_sets: Path):
        prints = {
            labelled.load("rte", folder=folder).fingerprint
            for folder in (all_sets, all_sets / "glue", all_sets / "glue" / "RTE")
        }
        assert prints == {labelled.load("rte").fingerprint}


def test_diagnostics_belong_to_mnli(tmp_path: Path):
    folder = glue(tmp_path / "all")
    files = labelled.hidden_files("mnli", folder)
    assert files["AX"] == folder / "glue/diagnostic/diagnostic.tsv"
    assert read_examples(files["AX"], name="mnli") == [("It snowed.", "It was cold.")]


@pytest.mark.parametrize(
    ("parts", "files", "sizes"),
    [
        ("official", ["train.tsv", "dev.tsv", "msr_paraphrase_test.txt"], [3, 30, 3]),
        ("dev-as-test", ["train.tsv", "dev.tsv"], [2, 1, 30]),
        ("dev-alone", ["dev.tsv"], [24, 3, 3]),
    ],
)
def test_parts_as_asked(tmp_path: Path, parts: str, files: list[str], sizes: list[int]):
    folder = glue(tmp_path / "all")
    header, *rows = MRPC.splitlines(keepends=True)
    (folder / "glue/MRPC/dev.tsv").write_text(header + "".join(rows * 10), encoding="utf-8")
    found = labelled.load("mrpc", folder=folder, parts=parts)
    assert [facts.file for facts in found.found.values()] == files
    assert [len(part) for part in (found.train, found.valid, found.test)] == sizes
    notes = "\n".join(found.notes())
    assert ("drawn at random with seed 0" in notes) == (parts != "official")


def test_valid_can_be_cut_from_train(tmp_path: Path):
    rows = [f"sentence number {n} | {'yes' if n % 3 else 'no'}" for n in range(200)]
    folder = own(tmp_path / "a", train=table("sentence | label", *rows))
    found = labelled.load(folder, valid="cut")
    assert [len(found.train), len(found.valid), len(found.test)] == [180, 20, 1]
    assert "valid is a tenth of train.tsv, drawn at random with seed 0" in list(found.notes())
    both = read(found) + read(found, "valid")
    assert sorted(both) == sorted(tuple(row.split(" | ")) for row in rows)
    assert read(found) == sorted(read(found), key=lambda row: int(row[0].split()[-1]))
    assert len(labelled.load(folder).valid) == 1
    other = own(tmp_path / "b", train=table("sentence | label", *rows), valid=None)
    assert read(labelled.load(other), "valid") == read(found, "valid")


class TestOwnFiles:
    def test_tabs(self, tmp_path: Path):
        found = labelled.load(own(tmp_path / "mine"))
        assert found.name == "mine"
        assert found.known is None
        assert found.as_published is None
        assert read(found) == [("so good", "yes"), ("so bad", "no"), ("fine", "yes")]
        assert found.target.labels == ("no", "yes")
        assert found.train.targets.tolist() == [1.0, 0.0, 1.0]

    def test_commas_with_quotation_marks(self, tmp_path: Path):
        text = 'id,Text,Label\n1,"Good, he said ""yes""",a\r\n\n2,"two\nlines",b\n'
        found = labelled.load(own(tmp_path, ".csv", **dict.fromkeys(data.PARTS, text)))
        assert read(found) == [('Good , he said " yes "', "a"), ("two lines", "b")]

    def test_semicolons(self, tmp_path: Path):
        text = "text;label\na;x\nb;y\n"
        folder = own(tmp_path, ".csv", **dict.fromkeys(data.PARTS, text))
        assert read(labelled.load(folder, separator="semicolons")) == [("a", "x"), ("b", "y")]

    def test_json_lines(self, tmp_path: Path):
        rows = [{"premise": "A\tb", "hypothesis": "c\nd", "label": n, "more": [1]} for n in (0, 1)]
        text = "\n".join(map(json.dumps, rows))
        found = labelled.load(own(tmp_path, ".jsonl", **dict.fromkeys(data.PARTS, text)))
        assert read(found) == [("A b", "c d", "0"), ("A b", "c d", "1")]
        assert (found.per_example, found.target.labels) == (2, ("0", "1"))

    def test_columns_by_name(self, tmp_path: Path):
        text = table("a | b | c | d", "x | one | two | P", "y | three | four | Q")
        folder = own(tmp_path, **dict.fromkeys(data.PARTS, text))
        pairs = labelled.load(folder, first="b", second="c", label="d")
        assert read(pairs) == [("one", "two", "P"), ("three", "four", "Q")]
        single = labelled.load(folder, first="c", label="a")
        assert read(single) == [("two", "x"), ("four", "y")]

    def test_columns_by_number_mean_no_header(self, tmp_path: Path):
        text = table("P | one | two", "Q | three | four")
        folder = own(tmp_path / "a", **dict.fromkeys(data.PARTS, text))
        found = labelled.load(folder, first="2", second=3, label=1)
        assert read(found) == [("one", "two", "P"), ("three", "four", "Q")]
        titled = table("label | s | t", "P | one | two", "Q | three | four")
        folder = own(tmp_path / "b", **dict.fromkeys(data.PARTS, titled))
        assert read(labelled.load(folder, first=2, label=1)) == [("one", "P"), ("three", "Q")]

    def test_one_sentence_of_two(self, tmp_path: Path):
        text = table("sentence1 | sentence2 | label", "a | b | x", "c | d | y")
        folder = own(tmp_path, **dict.fromkeys(data.PARTS, text))
        assert labelled.load(folder).per_example == 2
        assert read(labelled.load(folder, second="none")) == [("a", "x"), ("c", "y")]

    def test_numbers_are_labels_unless_some_are_not_whole(self, tmp_path: Path):
        def texts(*labels: str) -> dict[str, str]:
            text = table("text | label", *(f"a | {label}" for label in labels))
            return dict.fromkeys(data.PARTS, text)

        found = labelled.load(own(tmp_path / "a", **texts("10", "2", "-1")))
        assert found.target.labels == ("-1", "2", "10")
        found = labelled.load(own(tmp_path / "b", **texts("10", "2.5", "-1")))
        assert found.target == labelled.Target((), -1.0, 10.0)
        assert found.train.targets.tolist() == [10.0, 2.5, -1.0]
        found = labelled.load(tmp_path / "a", score=True)
        assert found.target == labelled.Target((), -1.0, 10.0)
        found = labelled.load(own(tmp_path / "b", **texts("10", "2.5", "-1")), score=False)
        assert found.target.labels == ("-1", "2.5", "10")

    def test_a_test_file_without_labels(self, tmp_path: Path):
        folder = own(tmp_path, test=table("sentence", "bad news"))
        found = labelled.load(folder)
        assert (found.way, read(found, "test")) == ("dev-as-test", [("so fine", "yes")])
        assert read_examples(folder / "test.tsv") == [("bad news",)]

    def test_a_folder_is_recognised(self, tmp_path: Path):
        assert labelled.looks_labelled("mrpc")
        assert labelled.looks_labelled(str(own(tmp_path / "a")))
        assert labelled.looks_labelled(str(own(tmp_path / "b", ".csv", train="text,label\na,b\n")))
        assert not labelled.looks_labelled(str(put(tmp_path / "c", {"train.tsv": "Ada\tB-PER\n"})))
        assert not labelled.looks_labelled(str(put(tmp_path / "d", {"train.txt": "Ada ran\n"})))
        assert not labelled.looks_labelled("ptb")
        assert not labelled.looks_labelled(str(tmp_path / "missing"))


def test_examples_without_labels(tmp_path: Path):
    put(tmp_path, {"a.txt": "One day.\n\nTwo.\n", "b.txt": "a\tb\nc\td\n", "c.tsv": OWN["test"]})
    assert read_examples(tmp_path / "a.txt") == [("One day.",), ("Two.",)]
    assert read_examples(tmp_path / "b.txt", per_example=2) == [("a", "b"), ("c", "d")]
    assert read_examples(tmp_path / "c.tsv") == [("bad news",)]
    with pytest.raises(data.DataError, match=r"has one sentence a row, and pairs of sentences"):
        read_examples(tmp_path / "c.tsv", per_example=2)


def test_words_by_their_counts(tmp_path: Path):
    text = table("text | label", "a b b | x", "b c c | y", "<unk> d | y")
    folder = own(
        tmp_path,
        train=text,
        valid=table("text | label", "so fine | y"),
        test=table("text | label", "b d e | x"),
    )
    every = labelled.load(folder)
    counts = dict(zip(every.vocabulary.tokens, every.vocabulary.counts.tolist(), strict=True))
    assert counts == {
        "a": 1, "b": 3, "c": 2, "<": 1, "unk": 1, ">": 1, "d": 1, "so": 0, "fine": 0, "e": 0,
        "<unk>": 0,
    }  # fmt: skip
    assert every.parts["test"].unseen == 1
    few = labelled.load(folder, most_words=2)
    assert few.vocabulary.tokens == ("b", "c", "<unk>")
    assert few.vocabulary.counts.tolist() == [3, 2, 5]
    assert read(few) == [("<unk> b b", "x"), ("b c c", "y"), ("<unk> " * 3 + "<unk>", "y")]
    assert read(few, "test") == [("b <unk> <unk>", "x")]
    [note] = [note for note in few.notes() if "<unk>" in note]
    assert note == (
        "of train's 7 words the 2 most frequent are kept; others are <unk>: 50% of train, 100% of "
        "valid, 67% of test"
    )
    assert len(labelled.load(folder, most_words=100).vocabulary) == 8


def test_long_and_empty_sentences(tmp_path: Path):
    text = table("text | label", "a b c d | x", " | y", "e f | y")
    found = labelled.load(own(tmp_path, **dict.fromkeys(data.PARTS, text)), longest=3, most_words=1)
    assert found.train.lengths.ravel().tolist() == [3, 1, 2]
    assert read(found)[1] == ("<empty>", "y")
    notes = list(found.notes())
    assert "train.tsv: 1 empty sentences have the one word <empty>" in notes
    assert "train.tsv: 1 sentences were shortened, by 1 words together" in notes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ["Isn't", "it", "U.S.", "?"]),
        ({"tokenizer": "spaces"}, ["Isn't", "it", "U.S.?"]),
        ({"tokenizer": "spaces", "lower": True}, ["isn't", "it", "u.s.?"]),
        ({"tokenizer": "spaces", "lower": True, "longest": 1}, ["isn't"]),
    ],
)
def test_tokenizers(options: dict[str, object], words: list[str]):
    tokenizer = Tokenizer(Options(**options))  # type: ignore[arg-type]
    found, empty = tokenizer.limited(["Isn't it\u00a0 U.S.?", " \t"])
    if tokenizer.options.tokenizer == "words":
        words = ["Is", "n't", *words[1:]]
    assert found == words
    assert empty == ["<empty>"]


def test_spacys_words(tmp_path: Path):
    pytest.importorskip("spacy", reason="needs the extra 'sentences'")
    tokenizer = Tokenizer(Options(tokenizer="spacy", lower=True))
    assert tokenizer(["He can't  pay $5-6 in the U.K. (today).\n", ""]) == [
        ["he", "ca", "n't", "pay", "$", "5", "-", "6", "in", "the", "u.k.", "(", "today", ")", "."],
        [],
    ]
    text = table("text | label", "can't | x", "cannot | y")
    folder = own(tmp_path, **dict.fromkeys(data.PARTS, text))
    assert read(labelled.load(folder, tokenizer="spacy")) == [("ca n't", "x"), ("can not", "y")]
    assert read(labelled.load(folder, tokenizer="spaces")) == [("can't", "x"), ("cannot", "y")]


def test_each_tokenizer_has_an_identity(monkeypatch: pytest.MonkeyPatch):
    assert Tokenizer(Options()).identity == "words 1"
    assert Tokenizer(Options(tokenizer="spaces")).identity == "spaces"
    import importlib.metadata

    monkeypatch.setattr(importlib.metadata, "version", lambda name: "3.9.9")
    assert Tokenizer(Options(tokenizer="spacy")).identity == "spacy 3.9.9"


def test_slices_share_their_words(tmp_path: Path):
    found = labelled.load("sick-r", folder=glue(tmp_path / "all"))
    some = found.train.some(1, 3)
    assert len(some) == 2
    assert some.words is found.train.words
    assert some.offsets.tolist() == found.train.offsets[2:].tolist()
    assert [some[0][1], some[1][1]] == [3.5, 1.0]
    assert len(some.some(1, 9)) == 1
    assert len(found.train.some(2, 1)) == 0
    sentences, _ = some[-1]
    assert [found.vocabulary.decode(each) for each in sentences] == [
        ["A", "dog", "runs"], ["A", "man", "eats"],
    ]  # fmt: skip
    assert found.train.lengths.tolist() == [[3, 4], [3, 3], [3, 3]]
    with pytest.raises(IndexError):
        some[2]


def test_a_description_for_people(tmp_path: Path):
    found = labelled.load(own(tmp_path / "mine"))
    assert found.describe() == (
        f"mine: sentences with 2 labels (no, yes), 6 types, from {tmp_path / 'mine'}\n"
        "  train  3 sentences  5 words\n"
        "    no 1 (33%), yes 2 (67%)\n"
        "  valid  1 sentences  2 words\n"
        "    no 0 (0%), yes 1 (100%)\n"
        "  test   1 sentences  2 words  1 words that train does not have (50%)\n"
        "    no 1 (100%), yes 0 (0%)\n"
        "  valid has no example of no\n"
        "  test has no example of yes"
    )
    scores = labelled.load("sick-r", folder=put(tmp_path / "s", {
        "SICK_train.txt": SICK, "SICK_trial.txt": SICK, "SICK_test_annotated.txt": SICK,
    }))  # fmt: skip
    assert "    score 3.13 on average, from 1 to 4.9" in scores.describe()
    assert "these are not the published counts of sick-r: other files?" in scores.describe()


def test_blocks_of_any_size_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from cellwright.data import sentence_files

    rng = np.random.default_rng(0)
    rows = [
        f"{' '.join(f'wört{n}' for n in rng.integers(50, size=rng.integers(0, 9)))} | b c | "
        f"{rng.integers(3)}"
        for _ in range(300)
    ]
    text = table("sentence1 | sentence2 | label", *rows)
    plain = labelled.load(own(tmp_path / "a", train=text, valid=None, test=text), most_words=20)
    for number, few in enumerate((1, 7, 100)):
        monkeypatch.setattr(prepare, "AT_ONCE", few)
        monkeypatch.setattr(sentence_files, "BLOCK", few)
        folder = own(tmp_path / f"b{number}", train=text, valid=None, test=text)
        other = labelled.load(folder, most_words=20)
        assert other.fingerprint == plain.fingerprint
        assert other.parts == plain.parts


def test_data_of_which_only_words_are_known(tmp_path: Path):
    found = labelled.load(own(tmp_path))
    bare = labelled.without_examples(
        "x", found.vocabulary, found.characters, found.target, found.per_example, found.options
    )
    assert len(bare.train) == len(bare.test) == 0
    assert bare.target == found.target


def test_pieces_of_an_encoder(tmp_path: Path):
    pytest.importorskip("transformers", reason="needs the extra 'embeddings'")
    encoder = tiny_encoder(tmp_path / "encoder")
    tokenizer = Tokenizer(Options(tokenizer="pieces", encoder=str(encoder), longest=4))
    assert tokenizer(["Ann lives  in Bobb.", "", "xyz"]) == [
        ["a", "##nn", "li", "##ves", "in", "bob", "##b", "."], [], ["[UNK]"],
    ]  # fmt: skip
    text = table("text | label", "Ann lives. | x", "bob | y")
    folder = own(tmp_path / "a", **dict.fromkeys(data.PARTS, text))
    found = labelled.load(folder, tokenizer="pieces", encoder=str(encoder), longest=4)
    assert read(found) == [("a ##nn li ##ves", "x"), ("bob", "y")]
    before = found.tokenizer.identity
    (encoder / "special_tokens_map.json").write_text("{}")
    assert found.tokenizer.identity != before
    with pytest.raises(UserError, match=r"no encoder 'nothing' on this machine"):
        labelled.load(folder, tokenizer="pieces", encoder="nothing")
