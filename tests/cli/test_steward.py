import json

import pytest
from helpers.contact_scenes import brake_test, record_scene

from trailbrake.cli.steward import steward
from trailbrake.errors import UsageError


def test_one_recording_stands_for_all_cars(tmp_path, capsys):
    path = record_scene(tmp_path, brake_test(1))
    steward([str(path)])
    assert "car 0 at fault: braked without a reason (C 2.e, S)" in capsys.readouterr().out
    other = path.with_stem(path.stem + "_car1")
    for files in ([str(other)], [str(path), str(other)]):
        steward(files, json=True)
        report = json.loads(capsys.readouterr().out)
        assert report["recordings"] == [str(path), str(other)]
        assert [row["fault"] for row in report["contacts"]] == [0]


def test_a_drive_of_one_car_is_refused_in_one_line(tmp_path):
    path = record_scene(tmp_path, brake_test(2))
    path.with_stem(path.stem + "_car1").unlink()
    with pytest.raises(UsageError, match="needs the recordings of two cars"):
        steward([str(path)])
