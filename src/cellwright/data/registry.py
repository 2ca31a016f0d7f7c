"""The tables of data that is known by name: running text, and sentences with tags."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """What the literature says of a corpus, with one `<eos>` a line."""

    train: int
    valid: int
    test: int
    types: int


@dataclass(frozen=True)
class File:
    """A file that is published by itself, under the name that it keeps."""

    url: str
    sha256: str

    @property
    def name(self) -> str:
        """Its name."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class Known:
    """A corpus that is known by name.

    `urls` are tried in turn, and all serve the same archive, whose hash is `sha256`; `files` are
    published by themselves, in its place or beside it. What has neither is not downloaded; `how`
    then says how to get it.
    """

    name: str
    title: str
    licence: str
    urls: tuple[str, ...] = ()
    sha256: str = ""
    published: Published | None = None
    how: str = ""
    files: tuple[File, ...] = ()


@dataclass(frozen=True)
class KnownTagged(Known):
    """Sentences with tags that are known by name: how their rows look, and the published numbers of
    sentences of the files, in the order of train, valid (if there is one) and test."""

    columns: str = ""
    tag: str = ""
    sentences: tuple[int, ...] = ()


_PTB = """\
ptb is licensed by the Linguistic Data Consortium, and cellwright does not download it
Those who have a licence (Treebank-2 is LDC95T7, Treebank-3 is LDC99T42) and Mikolov's
preprocessed files, as his archive simple-examples.tgz or as a folder with ptb.train.txt,
ptb.valid.txt and ptb.test.txt, bring them in with
  cellwright data get ptb --from simple-examples.tgz
or set CELLWRIGHT_DATA to the folder that has the folder ptb"""

_TABLE = (
    Known(
        "builtin",
        "The help topics that come with Python",
        "PSF-2.0",
    ),
    Known(
        "ptb",
        "Penn Treebank as Mikolov prepared it for language models",
        "LDC",
        published=Published(929_589, 73_760, 82_430, 10_000),
        how=_PTB,
    ),
    # The archives' hashes are those that several projects publish, Hugging Face datasets
    # (dataset_infos.json of wikitext) among them. The first address is that of the corpus's
    # author; the second is the original one, which refuses access at times.
    Known(
        "wikitext-2",
        "WikiText-2, word level",
        "CC BY-SA",
        urls=(
            "https://wikitext.smerity.com/wikitext-2-v1.zip",
            "https://s3.amazonaws.com/research.metamind.io/wikitext/wikitext-2-v1.zip",
        ),
        sha256="92675f1d63015c1c8b51f1656a52d5bdbc33aafa60cc47a218a66e7ee817488c",
        published=Published(2_088_628, 217_646, 245_569, 33_278),
    ),
    Known(
        "wikitext-103",
        "WikiText-103, word level",
        "CC BY-SA",
        urls=(
            "https://wikitext.smerity.com/wikitext-103-v1.zip",
            "https://s3.amazonaws.com/research.metamind.io/wikitext/wikitext-103-v1.zip",
        ),
        sha256="242ba0f20b329cfdf1ccc61e9e9e5b59becf189db7f7a81cd2a0e2fc31539590",
        published=Published(103_227_021, 217_646, 245_569, 267_735),
    ),
)

KNOWN: dict[str, Known] = {known.name: known for known in _TABLE}
"""The corpora that have a name."""

_CONLL2003 = """\
conll2003 has text of the Reuters Corpus (RCV1), which NIST gives to those who sign its agreement \
(trec.nist.gov/data/reuters), and cellwright does not download it
Those who have the files eng.train, eng.testa and eng.testb (or train, valid and test, as .txt),
in a folder or an archive, bring them in with
  cellwright data get conll2003 --from FOLDER
or set CELLWRIGHT_DATA to the folder that has the folder conll2003"""

_CONLL2000 = """\
conll2000 has text of the Wall Street Journal from the Penn Treebank, which the LDC licenses, and \
cellwright does not download it
The shared task's page (clips.uantwerpen.be/conll2000/chunking) has train.txt.gz and test.txt.gz;
unpacked, in a folder, they come in with
  cellwright data get conll2000 --from FOLDER
or set CELLWRIGHT_DATA to the folder that has the folder conll2000"""

_WNUT17 = "https://raw.githubusercontent.com/leondz/emerging_entities_17/master/"

_TAGGED = (
    KnownTagged(
        "conll2003",
        "CoNLL-2003, English named entities",
        "Reuters/NIST",
        how=_CONLL2003,
        columns="word pos chunk ner",
        tag="ner",
        sentences=(14_041, 3_250, 3_453),
    ),
    KnownTagged(
        "conll2000",
        "CoNLL-2000, English chunks",
        "LDC",
        how=_CONLL2000,
        columns="word pos chunk",
        tag="chunk",
        sentences=(8_936, 2_012),
    ),
    # The hashes are those of Hugging Face datasets (dataset_infos.json of wnut_17).
    KnownTagged(
        "wnut17",
        "WNUT-17, emerging and rare entities",
        "CC BY 4.0",
        files=(
            File(
                f"{_WNUT17}wnut17train.conll",
                "731820e13f71af324c6b55a1575ec2ce59fbaa2a0806f8f0400b98d56cd6a7a5",
            ),
            File(
                f"{_WNUT17}emerging.dev.conll",
                "e053b752b8155113ca66e7db08af5f2f5f43ab993694e4774f1ec5bad42312d8",
            ),
            File(
                f"{_WNUT17}emerging.test.annotated",
                "2aa79b764e56ec9264a1b30fdd9b70195bd00ff400b62edd8f399d5f13c178f0",
            ),
        ),
        columns="word ner",
        tag="ner",
        sentences=(3_394, 1_009, 1_287),
    ),
)

TAGGED: dict[str, KnownTagged] = {known.name: known for known in _TAGGED}
"""The sets of sentences with tags that have a name."""
