"""Gains from files: what is read, what is refused, and that what is written can be read."""

from dataclasses import dataclass

import pytest

from trailbrake.drivers import gains
from trailbrake.drivers.lane_keep import LaneKeepGains
from trailbrake.drivers.load import load
from trailbrake.errors import DataError, UsageError
from trailbrake.state.fields import quantity

PLAIN = "class Driver:\n    NEEDS = {'x'}\n    def reset(self, course): pass\n    def act(self, state, dt): pass\n"


@dataclass(frozen=True)
class Two:
    a: float = quantity("s", "the first", lo=0.0, hi=2.0, default=1.0)
    b: float = quantity("1", "the second", lo=-1.0, hi=1.0, default=0.0)


def file(tmp_path, text):
    path = tmp_path / "gains.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_values_go_over_the_defaults(tmp_path):
    path = file(tmp_path, "[gains.lane_keep]\nsteer_p = 2\n[gains.other]\nanything = 'goes'\n")
    driver = load("lane_keep", path)
    assert driver.gains == LaneKeepGains(steer_p=2.0)
    assert load("lane_keep").gains == LaneKeepGains()


def test_a_file_without_gains_changes_nothing(tmp_path):
    assert load("lane_keep", file(tmp_path, "speed = 3\n")).gains == LaneKeepGains()
    assert load("lane_keep_seed", file(tmp_path, "[gains.lane_keep]\nsteer_p = 2.0\n"))


def test_a_driver_of_one_s_own_has_gains_under_its_file_s_name(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from dataclasses import dataclass\nfrom trailbrake.state.fields import quantity\n@dataclass(frozen=True)\n"
        "class G:\n    a: float = quantity('1', 'some', lo=0.0, hi=9.0, default=1.0)\n" + PLAIN +
        "    Gains = G\n    def __init__(self, gains=None): self.gains = gains or G()\n",
        encoding="utf-8",
    )  # fmt: skip
    config = file(tmp_path, "[gains.mine]\na = 7.5\n")
    assert load(str(mine), config).gains.a == 7.5
    assert load(f"{mine}:Driver", config).gains.a == 7.5


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("c = 1", "no gain c; there are: a, b"),
        ("a = 2.1", "a cannot be, expected 0 .. 2 s, got 2.1"),
        ("a = 'x'", "a cannot be, expected 0 .. 2 s, got 'x'"),
        ("b = nan", "b cannot be, expected -1 .. 1 1, got nan"),
        ("b = true", "b cannot be, expected -1 .. 1 1, got True"),
    ],
)
def test_what_cannot_be_is_said_with_its_place(tmp_path, table, said):
    values = gains.read(file(tmp_path, f"[gains.d]\n{table}\n"))["d"]
    with pytest.raises(DataError) as caught:
        gains.make(Two, values, "gains.toml, [gains.d]")
    assert str(caught.value) == f"gains.toml, [gains.d]: {said}"


def test_wrong_files(tmp_path):
    with pytest.raises(UsageError, match="cannot read the configuration, got No such file"):
        gains.read(tmp_path / "none.toml")
    with pytest.raises(DataError, match="no valid TOML"):
        gains.read(file(tmp_path, "[gains"))
    with pytest.raises(DataError, match="gains are no tables"):
        gains.read(file(tmp_path, "gains = 3"))
    with pytest.raises(DataError, match=r"\[gains.line_follow\]: this driver has no gains"):
        load("line_follow", file(tmp_path, "[gains.line_follow]\nx = 1\n"))


def test_what_is_written_can_be_read(tmp_path):
    some = Two(a=0.123456789, b=-0.5)
    path = file(tmp_path, gains.text("d", some, "found by hand"))
    assert path.read_text("utf-8").splitlines()[:3] == [
        "# found by hand", "[gains.d]", "a = 0.123457  # s; the first",
    ]  # fmt: skip
    assert gains.make(Two, gains.read(path)["d"], "x") == Two(a=0.123457, b=-0.5)
