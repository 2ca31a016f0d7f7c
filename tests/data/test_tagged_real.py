"""The published sets: the counts of the literature. They are looked for in CELLWRIGHT_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cellwright.data import tagged

DATA = os.environ.get("CELLWRIGHT_DATA")  # before the fixture that takes it away


def load(name: str, **options: str) -> tagged.Tagged:
    folder = Path(DATA or "", name)
    if DATA is None or not folder.is_dir():
        pytest.skip(f"needs {name} in CELLWRIGHT_DATA")
    return tagged.load(name, folder=folder, **options)


def sizes(found: tagged.Tagged) -> list[int]:
    return [len(part) for part in (found.train, found.valid, found.test)]


def test_conll2003():
    found = load("conll2003")
    assert sizes(found) == [14_041, 3_250, 3_453]
    assert found.as_published
    assert found.parts["test"].spans == {"LOC": 1668, "MISC": 702, "ORG": 1661, "PER": 1617}
    assert [sum(facts.spans.values()) for facts in found.parts.values()] == [23_499, 5_942, 5_648]
    assert {each.scheme for each in found.found.values()} == {"IOB1"}
    assert len(found.tags) == 17
    assert sum(each.documents for each in found.found.values()) == 1393
    words, tags = found.train[0]
    assert found.vocabulary.decode(words)[:3] == ["EU", "rejects", "German"]
    assert found.tags.decode(tags)[:3] == ["S-ORG", "O", "S-MISC"]
    kept = load("conll2003", documents="keep")
    assert sizes(kept) == [14_987, 3_466, 3_684]  # as in Flair 0.4.1


def test_conll2000():
    found = load("conll2000")
    assert sizes(found) == [8_936 - 894, 894, 2_012]
    assert found.cut
    assert found.as_published
    assert sum(found.parts["test"].spans.values()) == 23_852
    assert {each.scheme for each in found.found.values()} == {"IOB2"}


def test_wnut17():
    found = load("wnut17")
    assert sizes(found) == [3_394, 1_009, 1_287]
    assert found.as_published
    assert sum(found.parts["test"].spans.values()) == 1_079
    assert found.tags.types == (
        "corporation", "creative-work", "group", "location", "person", "product",
    )  # fmt: skip
