import pytest
from helpers.synthetic_drives import record_drive

import trailbrake


def test_old_names_are_read_for_one_release_with_one_line(tmp_path):
    pytest.importorskip("pandas", exc_type=ImportError)
    table = trailbrake.load(record_drive(tmp_path / "a.mcap", rate=20.0).path)
    with pytest.warns(FutureWarning, match="columns have other names now: speed_mps is speed"):
        assert (table[table["lap"] == 1]["speed_mps"] == table[table["lap"] == 1]["speed"]).all()
    with pytest.warns(FutureWarning, match="x_m is x, y_m is y"):
        assert [*table[["x_m", "y_m", "time"]].columns] == ["x", "y", "time"]
    with pytest.raises(KeyError, match="speed_kmh"):
        table["speed_kmh"]
