import os

import numpy as np
import pytest

from trailbrake.drivers.policy_archive import write_arrays


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
