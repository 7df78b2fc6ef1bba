"""`check`: what a file is, or the one line of its loader."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from helpers.kept_line import keep_line
from helpers.synthetic_drives import record_drive

from trailbrake.cars.car_library import LIBRARY
from trailbrake.driving.spec import make_spec, write_spec
from trailbrake.record import Recording, export_csv

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "trailbrake"
LOGS = ROOT / "tests" / "golden" / "lap_logs"
MISSPELLED = """from trailbrake import Controls


class Driver:
    NEEDS = frozenset({"speed"})

    def reset(self, course):
        pass

    def act(self, state, dt):
        return Controls(throtle=1.0)
"""


def write(path, text):
    path.write_text(text)
    return path


def copied(path, source):
    return Path(shutil.copy(source, path))


def exported(path):
    export_csv(Recording.open(record_drive(path.with_suffix(".mcap"), rate=20.0).path), path)
    return path


# name, how the file is made, what is said
FINE = (
    ("car.toml", lambda p: copied(p, LIBRARY / "gt3.toml"), "a car, gt3, of 1345 kg"),
    ("track.toml", lambda p: copied(p, SOURCE / "tracks/library/pinegrove.toml"), "a circuit of 1822 m"),
    ("oval.toml", lambda p: copied(p, SOURCE / "world/miniature/library/oval.toml"), "a miniature track of 60.8 m"),
    ("day.toml", lambda p: write(p, '[[entries]]\nname = "A"\ndriver = "lane_sign"\n'
                                    '[[schedule]]\ntrack = "oval"\nlaps = 1\n'), "a race day of 1 entries"),
    ("drive.json", lambda p: write(p, json.dumps(write_spec(make_spec(driver="line_follow")))), "line_follow, assetto"),
    ("gains.toml", lambda p: write(p, "[gains.cruise]\nspeed = 15.0\n"), "gains of cruise"),
    ("drive.mcap", lambda p: record_drive(p, rate=20.0).path, "ticks, 2 laps, best 45.9"),
    ("drive.csv", exported, "a table of a drive, "),
    ("line.csv", lambda p: copied(p, keep_line(0.5)), "a line of "),
    ("points.csv", lambda p: write(p, "x_m,y_m,w_tr_right_m,w_tr_left_m\n" + "".join(
        f"{100 * np.cos(a):.3f},{100 * np.sin(a):.3f},5,5\n" for a in np.linspace(0, 6.2, 100))), "a circuit of 6"),
    ("banked.csv", lambda p: write(p, "x_m,y_m,w_tr_right_m,w_tr_left_m,bank_deg,grip\n" + "".join(
        f"{100 * np.cos(a):.3f},{100 * np.sin(a):.3f},5,5,10,0.2\n" for a in np.linspace(0, 6.2, 100))),
     "columns not read: bank_deg, grip"),
    ("laps.ld", lambda p: copied(p, LOGS / "laps.ld"), "MoTeC log of A. Person, lake car, Round the lake: 1718 ticks"),
    ("road.kml", lambda p: copied(p, LOGS / "road.kml"), "a circuit of 1175 m"),
    ("laps.kml", lambda p: copied(p, LOGS / "laps.kml"), "KML file of Round the lake: 430 ticks, 2 laps, best 34.5"),
    ("mine.py", lambda p: copied(p, ROOT / "examples/ten_line_driver.py"), "a driver that needs speed, x, y, yaw"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "make", "said"), FINE, ids=[row[0] for row in FINE])
def test_a_good_file_is_fine_and_says_what_it_is(cli, tmp_path, monkeypatch, name, make, said):
    monkeypatch.setenv("TRAILBRAKE_CACHE", str(tmp_path / "cache"))
    path = make(tmp_path / name)
    done = cli("check", path)
    assert done.code == 0, done.out
    assert done.out.startswith(f"{path}: fine: ")
    assert said in done.out


BAD = (
    (
        "car.toml",
        (LIBRARY / "gt3.toml").read_text("utf-8").replace("mass", "maass"),
        r"body\.maass: .*did you mean mass",
    ),
    ("gains.toml", "[gains.cruise]\nsped = 15.0\n", "no gain sped.*speed"),
    ("drive.toml", 'version = 1\nlaps = "two"\n', "no drive"),
    ("other.toml", "x = 1\n", "no kind of file that can be checked"),
    ("drive.mcap", "no recording", "not a recording"),
    ("drive.csv", "time_s,speed_mps\n0,0.1\n1,x\n", "drive.csv:3: no row of numbers"),
    ("policy.npz", "no archive", "policy.npz"),
    ("mine.py", MISSPELLED, r"mine\.py:11: .*'throtle'; did you mean throttle"),
    ("notes.txt", "", "no kind of file that can be checked"),
    ("driving_log.csv", "IMG/a.jpg,0,0,0,0,0,1\n", "no row can be used.*1 whose picture is missing"),
)


@pytest.mark.parametrize(("name", "text", "said"), BAD, ids=[row[0] for row in BAD])
def test_a_wrong_file_is_the_one_line_of_its_loader(cli, tmp_path, name, text, said):
    done = cli("check", write(tmp_path / name, text))
    assert done.code == 1
    (line,) = done.out.splitlines()
    assert re.search(said, line), line
    assert "fine" not in line


def test_a_driving_log_is_one_and_a_file_that_is_not_there_is_said(cli, tmp_path):
    write(tmp_path / "a.jpg", "picture")
    log = write(tmp_path / "driving_log.csv", "IMG/a.jpg,0,0.5,0,1.5,0.1,1\nIMG/b.jpg,0,0.5,0,1.5,0.2,1\n")
    said = cli("check", log).out
    assert said == f"{log}: fine: a driving log of 1 row; left out: 1 whose picture is missing (first in line 2)\n"
    assert cli("check", tmp_path / "nope").out == f"{tmp_path / 'nope'}: no such file\n"


def test_several_files_are_one_object_of_json(cli, tmp_path):
    good = copied(tmp_path / "car.toml", LIBRARY / "gt3.toml")
    done = cli("check", good, tmp_path / "none.csv", "--json")
    assert done.code == 1
    assert [each["fine"] for each in done.object["files"]] == [True, False]


@pytest.mark.slow
def test_a_simulator_is_one(cli):
    assert "fine: a simulator" in cli("check", ROOT / "examples" / "newline_json_sim.py").out
