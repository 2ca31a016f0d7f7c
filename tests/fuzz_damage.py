"""Ways to damage a file: cut off, flipped, wrong values, or something else in its place."""

from __future__ import annotations

import json
import os
import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 7, 2**31, 2**63, 10**30, 0.5, -0.5, 1e308, "NaN", "Infinity",
    "-Infinity", "", "x", "1", "../../outside", "\x00", "\x1b[2J", "é" * 300, [], [[]], [1, "x"],
    {}, {"x": 1}, {"epoch": 1}, [None] * 3,
)  # fmt: skip
"""What stands in the place of a value."""

TOML_VALUES = (
    "true", "-1", "0", "1", "1e308", "nan", "inf", '"x"', '""', '"none"', "[]", "[1, 'x']", "{}",
    "1979-05-27", '"../x"', "[[", "99999999999999999999", '"\\u0000"',
)  # fmt: skip

Damage = Callable[[Path, random.Random], bool]
"""Damages a file; whether it could."""


def truncate(path: Path, rng: random.Random) -> bool:
    size = path.stat().st_size
    os.truncate(path, rng.randrange(size) if size else 0)
    return size > 0


def flip(path: Path, rng: random.Random) -> bool:
    data = bytearray(path.read_bytes())
    # Half of the time near the start, where headers are.
    for _ in range(rng.choice((1, 1, 2, 8, 64)) if data else 0):
        end = len(data) if rng.random() < 0.5 else min(len(data), 200)
        data[rng.randrange(end)] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    return bool(data)


def insert(path: Path, rng: random.Random) -> bool:
    data = path.read_bytes()
    at = rng.randint(0, len(data))
    piece = rng.choice((b"\n", b"\0" * 9, b'"', b"{", b"]", b"\xff\xfe", b"9" * 5000, b"[" * 3000))
    path.write_bytes(data[:at] + piece + data[at:])
    return True


def empty(path: Path, rng: random.Random) -> bool:
    path.write_bytes(b"")
    return True


def huge(path: Path, rng: random.Random) -> bool:
    """Many zeros behind it, which take no room on the disk."""
    os.truncate(path, path.stat().st_size + 2**40)
    return True


def replaced(make: Callable[[Path], object]) -> Damage:
    def damage(path: Path, rng: random.Random) -> bool:
        path.unlink()
        make(path)
        return True

    return damage


def _loop(path: Path) -> None:
    other = path.with_name(f"{path.name}.loop")
    other.symlink_to(path.name)
    path.symlink_to(other.name)


SPECIAL: dict[str, Damage] = {
    "folder": replaced(lambda path: path.mkdir()),
    "pipe": replaced(os.mkfifo),
    "zero": replaced(lambda path: path.symlink_to("/dev/zero")),
    "dangling": replaced(lambda path: path.symlink_to("gone")),
    "loop": replaced(_loop),
    "self": replaced(lambda path: path.symlink_to(path.name)),
    "missing": replaced(lambda path: None),
}


# -- values --------------------------------------------------------------------------------------


def change_value(value: Any, rng: random.Random) -> Any:
    """A JSON value with one value in it changed or removed, at any depth."""
    places = list(_places(value))
    if not places:
        return rng.choice(VALUES)
    holder, key = rng.choice(places)
    if rng.random() < 0.3:
        del holder[key]
    elif isinstance(holder, dict) and rng.random() < 0.1:
        holder["another"] = rng.choice(VALUES)
    else:
        holder[key] = rng.choice(VALUES)
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = list(value.items()) if isinstance(value, dict) else []
    if isinstance(value, list):
        items = list(enumerate(value))
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def retype_json(path: Path, rng: random.Random) -> bool:
    try:
        value = json.loads(path.read_text())
    except ValueError:
        return False
    for _ in range(rng.choice((1, 1, 1, 3))):
        value = change_value(value, rng)
    path.write_text(json.dumps(value))
    return True


def retype_line(path: Path, rng: random.Random) -> bool:
    lines = path.read_text().splitlines()
    if not lines:
        return False
    at = rng.randrange(len(lines))
    lines[at] = json.dumps(change_value(json.loads(lines[at]), rng))
    path.write_text("\n".join(lines) + "\n")
    return True


def retype_toml(path: Path, rng: random.Random) -> bool:
    lines = path.read_text().splitlines()
    at = rng.randrange(len(lines))
    if rng.random() < 0.2:
        del lines[at]
    else:
        lines[at] = re.sub(r"=.*", lambda _: f"= {rng.choice(TOML_VALUES)}", lines[at], count=1)
    path.write_text("\n".join(lines) + "\n")
    return True


def retype_header(path: Path, rng: random.Random) -> bool:
    """Change a value in the header of a safetensors file, or in JSON that is a text in it."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    texts = header.get("__metadata__", {})
    names = [name for name, text in texts.items() if text[:1] in "{["]
    if names and rng.random() < 0.7:
        name = rng.choice(names)
        texts[name] = json.dumps(change_value(json.loads(texts[name]), rng))
    else:
        header = change_value(header, rng)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])
    return True


def forge_checkpoint(path: Path, rng: random.Random) -> bool:
    """Change what a checkpoint says, and make its checksum fit."""
    from cellwright.runs.checkpoints import load_checkpoint, save_checkpoint

    if path.with_name("config.json").exists():
        return forge_weights(path, rng)
    found = load_checkpoint(path)
    state = change_value(json.loads(json.dumps(found.state)), rng)
    tensors = dict(found.tensors)
    if rng.random() < 0.2 and tensors:
        del tensors[rng.choice(sorted(tensors))]
    if not isinstance(state, dict):
        return False
    save_checkpoint(path, tensors, state)
    return True


def forge_weights(path: Path, rng: random.Random) -> bool:
    """Change the weights of an exported model, and make the hash in its configuration fit."""
    import hashlib

    from safetensors.torch import load_file, save_file

    tensors = load_file(path)
    name = rng.choice(sorted(tensors))
    tensor = tensors.pop(name)
    if rng.random() < 0.7:
        changed = (tensor.half(), tensor[:0], tensor.reshape(-1), tensor.new_full((1,), 1e30))
        tensors[name] = rng.choice(changed).clone()
    save_file(tensors, path)
    config = json.loads(path.with_name("config.json").read_text())
    config["weights_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_name("config.json").write_text(json.dumps(config))
    return True


def forge_bench(path: Path, rng: random.Random) -> bool:
    """Change what a benchmark says of itself, and make its checksums fit."""
    from safetensors.numpy import load_file, save_file

    from cellwright.bench import file

    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    about = json.loads(header["__metadata__"][file._ENTRY])
    columns = load_file(path)
    if rng.random() < 0.5:
        about["table"] = change_value(about["table"], rng)
    else:
        column = columns[rng.choice(sorted(columns))]
        if column.size:
            column.reshape(-1)[rng.randrange(column.size)] = rng.choice((0, 1, 7, 100))
    about["checksums"] = file._checksums(about["table"], columns)
    save_file(columns, path, {file._ENTRY: json.dumps(about)})
    return True


def change_row(path: Path, rng: random.Random) -> bool:
    """Change a value of a SQLite file, or drop a table."""
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA foreign_keys = OFF")
        query = "SELECT name FROM sqlite_master WHERE type = 'table'"
        tables = sorted(name for (name,) in connection.execute(query) if "sqlite" not in name)
        table = rng.choice(tables)
        if rng.random() < 0.1:
            connection.execute(f'DROP TABLE "{table}"')
        else:
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            rows = [row for (row,) in connection.execute(f'SELECT rowid FROM "{table}"')]
            if not rows:
                return False
            value = rng.choice(VALUES)
            if isinstance(value, list | dict) or rng.random() < 0.3:
                value = json.dumps(value)
            change = f'UPDATE "{table}" SET "{rng.choice(columns)}" = ? WHERE rowid = ?'
            connection.execute(change, (value, rng.choice(rows)))
        connection.commit()
    except (sqlite3.Error, OverflowError):
        return False
    finally:
        connection.close()
    return True


ANY: dict[str, Damage] = {
    "truncated": truncate, "flipped": flip, "inserted": insert, "emptied": empty, "huge": huge,
    **SPECIAL,
}  # fmt: skip

BY_ENDING: dict[str, dict[str, Damage]] = {
    ".json": {"value": retype_json},
    ".jsonl": {"value": retype_line},
    ".toml": {"value": retype_toml},
    ".safetensors": {"header": retype_header, "forged": forge_checkpoint},
    ".bench": {"header": retype_header, "forged": forge_bench},
    ".db": {"value": change_row},
}


def damages(path: Path) -> dict[str, Damage]:
    """All that can be done to a file."""
    return {**ANY, **BY_ENDING.get(path.suffix, {})}
