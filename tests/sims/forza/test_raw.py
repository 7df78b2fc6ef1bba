"""Raw recordings: bytes by hand, cut files, garbage, and the arrays against the codec."""

import random
import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import DataError
from trailbrake.sims.forza import codec
from trailbrake.sims.forza.blocks import block_fields
from trailbrake.sims.forza.raw import MAGIC, RawWriter, is_raw, read_arrays, read_raw

GOLDEN = Path(__file__).parents[2] / "golden" / "wire" / "forza"


def golden(case):
    return bytes.fromhex((GOLDEN / f"{case}.hex").read_text())


def write(path, records):
    raw = RawWriter(path)
    for data, at in records:
        raw.write(data, at)
    raw.close()
    return path


def test_the_file_to_the_byte(tmp_path):
    path = write(tmp_path / "r.forza", [(b"abc", 258), (b"", 2**63)])
    assert len(MAGIC) == 8
    assert path.read_bytes() == (MAGIC + b"\x02\x01\0\0\0\0\0\0\x03\0abc" + b"\0\0\0\0\0\0\0\x80\0\0")
    assert is_raw(path)
    assert not is_raw(tmp_path / "nothing")


@given(st.lists(st.tuples(st.binary(max_size=400), st.integers(0, 2**64 - 1)), max_size=20), st.data())
def test_whatever_came_comes_back_and_a_cut_file_gives_what_is_whole(records, data):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "r", records)
        assert list(read_raw(path)) == records
        cut = data.draw(st.integers(8, path.stat().st_size))
        path.write_bytes(path.read_bytes()[:cut])
        whole, size = 0, 8
        for datagram, _ in records:
            size += 10 + len(datagram)
            whole += size <= cut
        assert list(read_raw(path)) == records[:whole]
        known = [len(datagram) for datagram, _ in records[:whole] if len(datagram) in codec.FORMATS]
        assert {length: len(table) for length, table in read_arrays(path).items()} == Counter(known)


@pytest.mark.parametrize("content", [b"", b"TBFORZA", b"something else entirely"])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "x"
    path.write_bytes(content)
    for read in (lambda p: list(read_raw(p)), read_arrays):
        with pytest.raises(DataError, match="not a recording of datagrams"):
            read(path)


def test_arrays_are_what_the_codec_says(tmp_path):
    rng = random.Random(5)
    cases = ["sled", "dash", "fh", "fm2023"]
    records = []
    for i in range(400):
        data = golden(rng.choice(cases) if rng.random() < 0.3 else cases[i // 100])
        records.append((data, i))
        if rng.random() < 0.05:
            records.append((rng.randbytes(rng.choice([0, 5, 77])), i))
    path = write(tmp_path / "r.forza", records)
    tables = read_arrays(path)
    assert sorted(tables) == [232, 311, 324, 331]
    for length, table in tables.items():
        mine = [(data, at) for data, at in records if len(data) == length]
        assert table["recv_time_ns"].tolist() == [at for _, at in mine]
        assert (table["packet_len"] == length).all()
        packet = codec.decode_packet(mine[0][0])
        for block in packet[:4]:
            for key in block_fields(type(block)) if block is not None else ():
                assert (table[key] == getattr(block, key)).all(), key


def test_arrays_and_datagrams_agree_on_random_bytes(tmp_path):
    rng = np.random.default_rng(2)
    records = [(rng.bytes(324), i) for i in range(200)]
    table = read_arrays(write(tmp_path / "r", records))[324]
    assert table.tobytes() == b"".join(struct.pack("<QH", at, 324) + data for data, at in records)
