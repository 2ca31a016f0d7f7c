"""The one table of corpora that are known by name."""

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
class Known:
    """A corpus that is known by name.

    `urls` are tried in turn, and all serve the same archive, whose hash is `sha256`. A corpus
    without urls is not downloaded; `how` then says how to get it.
    """

    name: str
    title: str
    licence: str
    urls: tuple[str, ...] = ()
    sha256: str = ""
    published: Published | None = None
    how: str = ""


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
