import os

import numpy as np
import pytest

from trailbrake.drivers.loading.policy_archive import decode_header, write_arrays


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    write_arrays(path, {"a": np.arange(3)})
    before = path.read_bytes()

    def fill_disk(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fill_disk)
    with pytest.raises(OSError, match="No space left"):
        write_arrays(path, {"a": np.arange(4)})
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.npz"]


@pytest.mark.parametrize("order", "<>")
def test_a_header_is_text_of_either_byte_order(order):
    assert decode_header(np.array('{"kind": "\u00e4\U0001f600"}').astype(f"{order}U20")) == {"kind": "\u00e4\U0001f600"}


@pytest.mark.parametrize(
    "data",
    [np.array([0x22, 0x7FFFFFFF, 0x22], "<u4").view("<U3")[0:1].reshape(()), np.array([0x22, 0xD800, 0x22], "<u4")
     .view("<U3").reshape(()), np.array(b"{}"), np.array(["{}"]), np.array(7)],
    ids=["beyond Unicode", "half a surrogate pair", "bytes", "two", "number"],
)  # fmt: skip
def test_what_is_no_text_is_no_header(data):
    with pytest.raises(ValueError, match=r"codec can't decode|a header of"):
        decode_header(data)
