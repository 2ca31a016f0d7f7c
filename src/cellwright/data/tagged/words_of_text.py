"""A line of plain text as words, much as those who annotate news split it.

Punctuation stands for itself, `'s` and `n't` are words, as in the Penn Treebank; abbreviations with
points inside (`U.S.`), some titles (`Mr.`) and initials keep their point; numbers, dates, addresses
of pages and people, `@names` and `#tags` stay whole. It knows no language: where words are written
without spaces, a run of letters is one.
"""

from __future__ import annotations

import functools
import re

from cellwright.data.texts.words import marks

_TITLES = "Mr|Mrs|Ms|Dr|St|Prof|Gen|Sen|Gov|Rep|Lt|Col|Capt|Sgt|Jr|Sr"
_CLITIC = re.compile(r"(.+?)(n['’]t|['’](?:s|re|ve|ll|d|m))", re.IGNORECASE)


def words_of(line: str) -> list[str]:
    """The words of a line; together they are all of it but white space.

    >>> words_of("Mr. O'Neil's U.S. trip (1996-08-22) didn't cost $3,000.50.")
    ['Mr.', "O'Neil", "'s", 'U.S.', 'trip', '(', '1996-08-22', ')', 'did', "n't", 'cost', '$', '3,000.50', '.']
    """  # noqa: E501
    found: list[str] = []
    for word in _words().findall(line):
        clitic = _CLITIC.fullmatch(word) if "'" in word or "’" in word else None
        found += clitic.groups() if clitic else (word,)
    return found


@functools.cache
def _words() -> re.Pattern[str]:
    mark = f"[{marks()}]"
    letter = r"[^\W_]"
    run = f"{letter}+(?:{mark}+{letter}*)*"
    inner = "[-\u2010\u2011'’\u02bc\u00ad\u200c\u200d]"
    return re.compile(
        "|".join(
            (
                r"(?:https?://|www\.)[^\s<>\"]*[\w/]",
                r"[\w.+-]{1,64}@\w[\w-]{0,63}(?:\.\w[\w-]{0,63})+",
                rf"[@#]\w(?:\w|{mark})*",
                r"(?:[^\W\d_]\.){2,}",
                rf"(?<!\w)(?:{_TITLES})\.",
                r"(?<!\w)[A-Z]\.(?=\s+[A-Z])",
                r"['’](?:s|re|ve|ll|d|m)(?!\w)",
                rf"{run}(?:(?:{inner}|(?<=\d)[.,:/](?=\d)|\.(?=[a-z])){run})*",
                r"\.{2,}|-{2,}",
                rf"\S{mark}*",
            )
        )
    )
