"""Archives, sound and hostile."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping

TEXTS = {
    "wiki.train.tokens": b" \n = Title = \n the cat sat \n" * 20_000,
    "wiki.valid.tokens": b" the cat \n",
    "wiki.test.tokens": b" cat sat \n",
}


def zipped(members: Mapping[str, bytes], links: Mapping[str, str] | None = None) -> bytes:
    """A zip file; links are members of the kind that unzip makes symbolic links of."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
        for name, target in (links or {}).items():
            info = zipfile.ZipInfo(name)
            info.create_system = 3
            info.external_attr = 0o120777 << 16
            archive.writestr(info, target)
    return packed.getvalue()


def tarred(members: Mapping[str, bytes], links: Mapping[str, str] | None = None) -> bytes:
    """A tar file, compressed."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return packed.getvalue()


def inside(folder: str, texts: Mapping[str, bytes] = TEXTS) -> dict[str, bytes]:
    """The texts as members below a folder."""
    return {f"{folder}/{name}": content for name, content in texts.items()}
