import json

import pytest

from trailbrake.driving.goals import Laps, OffRoad, Seconds
from trailbrake.driving.spec import (
    CarSpec,
    DriveSpec,
    EmbeddedSite,
    KeepSpec,
    LiveSite,
    parse_spec,
    read_spec,
    write_spec,
)
from trailbrake.errors import DataError

FULL = DriveSpec(
    site=EmbeddedSite(sim="forza", track="kartwerk", car="kart", seed=3, speed="real", options={"rate": 120.0},
                      host=("steering=pad",), conditions=("grip=0.9",), camera="world", pace="driver"),
    cars=(CarSpec(driver="line_follow", config="a.toml", gain=("learn=1",), track="pinegrove", car="gt3", line="l.csv",
                  cached_line=False, memory="m.json"), CarSpec()),
    goal=Laps(5).or_when(Seconds(60.0), OffRoad(0.5)),
    keep=KeepSpec(out="runs", report=False, signals=("forza.*",)),
)  # fmt: skip


@pytest.mark.parametrize("spec", [FULL, DriveSpec(site=LiveSite(sim="trend")), DriveSpec(site=EmbeddedSite())])
def test_what_is_written_is_what_is_read(spec):
    values = json.loads(json.dumps(write_spec(spec)))
    assert parse_spec(values, "here") == spec


def test_toml_and_json_are_the_same_drive(tmp_path):
    toml = tmp_path / "drive.toml"
    toml.write_text(
        'version = 1\n[site]\nkind = "embedded"\nsim = "assetto"\ntrack = "oval"\n[[cars]]\ndriver = "line_follow"\n'
        '[goal]\nkind = "laps"\ncount = 3\n',
        "utf-8",
    )
    spec = read_spec(toml)
    assert (spec.site.track, spec.first.driver, spec.goal, spec.keep) == ("oval", "line_follow", Laps(3), KeepSpec())
    other = tmp_path / "drive.json"
    other.write_text(json.dumps(write_spec(spec)), "utf-8")
    assert read_spec(other) == spec


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 2}, "a drive of another version, expected 1, got 2"),
        ({"cra": []}, "unknown field `cra`"),
        ({"site": {"kind": "embedded", "trak": "oval"}}, r"unknown field `trak` - at `\$.site`"),
        ({"site": {"kind": "orbit"}}, "orbit"),
        ({"site": {"kind": "embedded", "seed": "x"}}, "int"),
        ({"cars": []}, "length >= 1"),
        ({"goal": {"kind": "laps"}}, "count"),
        ({"goal": {"kind": "moon"}}, "moon"),
    ],
)
def test_a_wrong_drive_is_one_line_that_says_what(change, said):
    values = {**write_spec(DriveSpec(site=EmbeddedSite())), **change}
    with pytest.raises(DataError, match=said) as caught:
        parse_spec(values, "mine.toml")
    assert str(caught.value).startswith("mine.toml")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("values", [None, [], "drive", 5])
def test_what_is_no_table_is_no_drive(values):
    with pytest.raises(DataError, match="no drive"):
        parse_spec(values, "mine.toml")
