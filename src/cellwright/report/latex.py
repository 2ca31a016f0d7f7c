r"""Words and numbers as LaTeX has them, for any LaTeX with the package booktabs.

>>> print(escaped("a_b & 5% of {x}"))
a\_b \& 5\% of \{x\}
>>> print(number("-1,234.5"), number("1e+07"), number("–"))
$-1{,}234.5$ $1 \times 10^{7}$ --
"""

from __future__ import annotations

import re
import unicodedata

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"{\char36}", "&": r"\&", "%": r"\%",
    "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "`": r"\`{}",
    "–": "--", "—": "---", "…": r"\ldots{}", "‘": "`", "’": "'", "“": "``", "”": "''",
    "§": r"\S{}", "©": r"\copyright{}", "\u00a0": "~",
    "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ø": r"\o{}",
    "Ø": r"\O{}", "å": r"\aa{}", "Å": r"\AA{}", "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}",
}  # fmt: skip

_MATHS = {
    "±": r"\pm", "·": r"\cdot", "×": r"\times", "−": "-", "→": r"\to", "←": r"\gets",
    "↑": r"\uparrow", "↓": r"\downarrow", "≤": r"\leq", "≥": r"\geq", "≠": r"\neq",
    "≈": r"\approx", "∞": r"\infty", "∑": r"\sum", "√": r"\surd", "∈": r"\in", "°": r"^\circ",
    "²": "^2", "³": "^3", "¹": "^1", "µ": r"\mu",
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon",
    "ζ": r"\zeta", "η": r"\eta", "θ": r"\theta", "ι": r"\iota", "κ": r"\kappa", "λ": r"\lambda",
    "μ": r"\mu", "ν": r"\nu", "ξ": r"\xi", "π": r"\pi", "ρ": r"\rho", "σ": r"\sigma",
    "τ": r"\tau", "υ": r"\upsilon", "φ": r"\varphi", "χ": r"\chi", "ψ": r"\psi", "ω": r"\omega",
    "Γ": r"\Gamma", "Δ": r"\Delta", "Θ": r"\Theta", "Λ": r"\Lambda", "Ξ": r"\Xi", "Π": r"\Pi",
    "Σ": r"\Sigma", "Φ": r"\Phi", "Ψ": r"\Psi", "Ω": r"\Omega",
}  # fmt: skip

_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u",
    "\u0307": ".", "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip

_NUMBER = re.compile(r"([-−+]?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?:e([-+]?\d+))?(%?)")


def escaped(text: str) -> str:
    """A text that LaTeX sets as it stands. What no plain LaTeX can set is a question mark."""
    return "".join(map(_letter, " ".join(text.split())))


def number(text: str) -> str:
    """A number as it is shown to people, in math mode; other texts are escaped."""
    inside = in_math(text)
    return escaped(text) if inside is None else f"${inside}$"


def in_math(text: str) -> str | None:
    """A number for within math mode; None for what is none.

    >>> in_math("1,234.50"), in_math("50%"), in_math("3 of 4")
    ('1{,}234.50', '50\\\\%', None)
    """
    if text in ("∞", "-∞"):
        return text.replace("∞", r"\infty")
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    sign, digits, power, percent = found.groups()
    written = sign.replace("−", "-") + digits.replace(",", "{,}")
    if power is not None:
        written += rf" \times 10^{{{int(power)}}}"
    return written + percent.replace("%", r"\%")


def _letter(letter: str) -> str:
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    if letter in _MATHS:
        return f"${_MATHS[letter]}$"
    if " " <= letter <= "~":
        return letter
    base, *marks = list(unicodedata.normalize("NFKD", letter))
    if not marks:
        return base if " " <= base <= "~" else "?"
    if len(marks) == 1 and marks[0] in _ACCENTS and base.isascii():
        under = rf"\{base}" if base in "ij" and _ACCENTS[marks[0]] != "c" else base
        return rf"\{_ACCENTS[marks[0]]}{{{under}}}"
    plain = [mark for mark in (base, *marks) if not unicodedata.combining(mark)]
    return "".join(one if " " <= one <= "~" else "?" for one in plain)
