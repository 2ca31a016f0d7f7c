"""Files of torch.save are read without running anything; whatever is no data is refused."""

from __future__ import annotations

import collections
import io
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.pickle_free import Plain, read_pickled

FORMATS = {
    "zip": {},
    "zip, protocol 4": {"pickle_protocol": 4},
    "legacy": {"_use_new_zipfile_serialization": False},
    "legacy, protocol 4": {"_use_new_zipfile_serialization": False, "pickle_protocol": 4},
}


@pytest.fixture(params=FORMATS)
def save(request: pytest.FixtureRequest, tmp_path: Path):
    def saved(value: object) -> Path:
        path = tmp_path / "model.pt"
        torch.save(value, path, **FORMATS[request.param])
        return path

    return saved


@pytest.fixture
def dictionary(flair_dictionary) -> object:
    made = flair_dictionary(["<unk>", "ß", ""])
    made.decoded = collections.defaultdict(int, {"ß": 1})
    return made


def test_it_reads_what_torch_reads(save):
    base = torch.arange(24.0).reshape(4, 6)
    value = {
        "tensors": [
            base, base.t(), base[1:, ::2], torch.tensor(3.5), torch.empty(0, 5), base.double(),
            base.half(), base.bfloat16(), base.long(), base.int(), base.short(), base.char(),
            base.byte(), base > 5,
        ],
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "others": (1, -1, 2**40, 0.5, None, True, False, "ü", b"\x00\xff", [], {}, ()),
        "weights": torch.nn.LSTM(2, 3).state_dict(),
        3: base.shape,
    }  # fmt: skip
    path = save(value)
    found, expected = read_pickled(path), torch.load(path, weights_only=False)
    assert list(found) == list(expected)
    for ours, theirs in zip(found["tensors"], expected["tensors"], strict=True):
        assert ours.dtype == theirs.dtype
        assert torch.equal(ours, theirs)
    assert found["others"] == expected["others"]
    assert torch.equal(found["parameter"], torch.ones(2))
    assert list(found["weights"]) == list(expected["weights"])
    assert all(
        torch.equal(found["weights"][key], expected["weights"][key]) for key in found["weights"]
    )
    assert found[3] == (4, 6)


def test_tensors_that_share_their_numbers_share_them(save):
    base = torch.zeros(3, 4)
    found = read_pickled(save([base, base[1]]))
    found[0][1, 2] = 7
    assert found[1].tolist() == [0, 0, 7, 0]


def test_flairs_dictionary_is_read_as_plain_data(save, dictionary):
    path = save({"dictionary": dictionary, "hidden_size": 5})
    sys.modules.pop("flair.data")  # nothing is imported
    found = read_pickled(path)
    assert found["hidden_size"] == 5
    assert found["dictionary"] == Plain(
        "flair.data.Dictionary",
        {
            "idx2item": [b"<unk>", b"\xc3\x9f", b""],
            "item2idx": {b"<unk>": 0, b"\xc3\x9f": 1, b"": 2},
            "decoded": {"ß": 1},
            "multi_label": False,
        },
    )


class Call:
    """Pickled as a call of a function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


EVIL = {
    "os.system": lambda mark: Call(os.system, f"touch {mark}"),
    "subprocess": lambda mark: Call(subprocess.check_output, ["touch", str(mark)]),
    "eval": lambda mark: Call(eval, f"open({str(mark)!r}, 'w')"),
    "open": lambda mark: Call(open, str(mark), "w"),
    "getattr": lambda mark: Call(getattr, str(mark), "upper"),
    "torch.load": lambda mark: Call(torch.load, str(mark)),
    "a bound method": lambda mark: Path(mark).touch,
}


@pytest.mark.parametrize("evil", EVIL)
def test_code_is_refused_and_not_run(save, tmp_path: Path, evil: str):
    mark = tmp_path / "was here"
    path = save({"weights": torch.ones(3), "more": [EVIL[evil](mark)]})
    with pytest.raises(EmbeddingError, match=r"model\.pt: refused: it names '.+'"):
        read_pickled(path)
    assert not mark.exists()


LAUGHS = b"\x80\x02]q\x00" + b"".join(b"]q%c(h%ch%ce" % (i + 1, i, i) for i in range(99)) + b"q\xff"
"""A list of a list twice, of a list twice, and so on: it has 2 to the 99th lists."""

PROGRAMS = {
    "laughs as a class": LAUGHS + b")\x81.",
    "laughs called": LAUGHS + b")R.",
    "laughs as attributes": LAUGHS + b"cflair.data\nDictionary\n)\x81h\xffb.",
    "laughs as a storage": LAUGHS + b"Q.",
    "laughs as a shape": LAUGHS + b"ctorch._utils\n_rebuild_tensor_v2\n(NK\x00h\xffh\xfftR.",
    "laughs as a size": LAUGHS + b"ctorch\nSize\n" + b"(" + b"h\xff" * 20 + b"tR.",
    "laughs as a key": LAUGHS + b"}h\xffNs.",
    "global": b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.",
    "stack global": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
    "inst": b"(X\x04\x00\x00\x00trueios\nsystem\n.",
    "obj": b"\x80\x02(cos\nsystem\nX\x04\x00\x00\x00trueo.",
    "newobj of a function": b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)\x81.",
    "newobj_ex": b"\x80\x04cflair.data\nDictionary\n)}\x92.",
    "ext": b"\x80\x02\x82\x01.",
    "a part called": b"\x80\x02c__builtin__\nint\nX\x01\x00\x00\x001\x85R.",
    "a class called": b"\x80\x02cflair.data\nDictionary\n)R.",
    "a text called": b"\x80\x02X\x01\x00\x00\x00a)R.",
    "build on a name": b"\x80\x02ccollections\nOrderedDict\n}X\x01\x00\x00\x00aK\x01sb.",
    "build with slots": b"\x80\x02cflair.data\nDictionary\n)\x81N}X\x01\x00\x00\x00aK\x01s\x86b.",
    "a tuple as a key": b"\x80\x02})K\x01s.",
    "an attribute": b"\x80\x04\x8c\x0acollections\x8c\x0babc.os.path\x93.",
    "nothing on the stack": b"\x80\x02R.",
    "no mark": b"\x80\x02t.",
    "no memory": b"\x80\x02h\x05.",
    "no stop": b"\x80\x02K\x01",
    "an encoding": b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x05\x00\x00\x00rot13\x86R.",
    "a long string": b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x0fabc.",
    "a far memory": b"\x80\x02Nr\xff\xff\xff\xff.",
    "a storage": b"\x80\x04(\x8c\x07storagectorch\nFloatStorage\n\x8c\x010NK\x05tQ.",
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("place", ["alone", "zip", "legacy"])
def test_odd_programs_are_refused(tmp_path: Path, program: str, place: str):
    path = tmp_path / "model.pt"
    if place == "alone":
        path.write_bytes(PROGRAMS[program])
    elif place == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("model/data.pkl", PROGRAMS[program])
    else:
        buffer = io.BytesIO()
        torch.save({}, buffer, _use_new_zipfile_serialization=False)
        head = buffer.getvalue().split(b"\x80\x02}q\x00.")[0]
        path.write_bytes(head + PROGRAMS[program] + b"\x80\x02]q\x00.")
    if place != "alone" and program in ("a far memory", "a storage"):  # harmless, as data
        read_pickled(path)
        return
    with pytest.raises(EmbeddingError, match=r"model\.pt: "):
        read_pickled(path)


def test_any_cut_or_flipped_byte_gives_data_or_an_error(save, dictionary):
    path = save({"a": torch.arange(5), "dictionary": dictionary})
    data = path.read_bytes()
    step, refused = max(1, len(data) // 40), 0
    for at in range(0, len(data), step):
        for damaged in (data[:at], data[:at] + bytes([data[at] ^ 0x21]) + data[at + 1 :]):
            path.write_bytes(damaged)
            try:
                read_pickled(path)
            except EmbeddingError:
                refused += 1
    assert refused > 20  # every cut, at least


def test_a_tensor_cannot_reach_beyond_its_storage(tmp_path: Path):
    class Tensor:
        def __init__(self, *arguments):
            self.arguments = arguments

        def __reduce__(self):
            return torch._utils._rebuild_tensor_v2, (*self.arguments, False, {})

    class Storage:
        pass

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            kind = ("storage", torch.FloatStorage, "0", "cpu", 6)
            return kind if isinstance(value, Storage) else None

    path = tmp_path / "model.pt"
    for wrong in [
        (7, (1,), (1,)),
        (0, (7,), (1,)),
        (0, (2, 3), (6, 1)),
        (0, (10**15,), (0,)),
        (-1, (2,), (1,)),
        (0, (2,), (-1,)),
        (0, (2, 3), (1,)),
        (0, (2.0,), (1,)),
    ]:
        buffer = io.BytesIO()
        Pickler(buffer, 2).dump(Tensor(Storage(), *wrong))
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("m/data.pkl", buffer.getvalue())
            archive.writestr("m/data/0", bytes(24))
        with pytest.raises(EmbeddingError, match="is damaged"):
            read_pickled(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is damaged"),
        (b"not a pickle at all", "is damaged"),
        (pickle.dumps({"a": 1}), "is no file of torch.save"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, data: bytes, message: str):
    path = tmp_path / "model.pt"
    path.write_bytes(data)
    with pytest.raises(EmbeddingError, match=message):
        read_pickled(path)


def test_another_zip_file_is_refused(tmp_path: Path):
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("text.txt", "a")
    with pytest.raises(EmbeddingError, match=r"none of PyTorch's"):
        read_pickled(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/data.pkl", pickle.dumps([0] * 999, 2))
    with pytest.raises(EmbeddingError, match="compressed"):
        read_pickled(path)
