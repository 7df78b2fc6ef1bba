"""Gains from files: what is read, what is refused, and that what is written can be read."""

from dataclasses import dataclass

import pytest

from trailbrake.drivers.lane_keep import LaneKeepGains
from trailbrake.drivers.loading import gains
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.errors import DataError, DriverError, UsageError
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
    driver = load_driver("lane_keep", path)
    assert driver.gains == LaneKeepGains(steer_p=2.0)
    assert load_driver("lane_keep").gains == LaneKeepGains()


def test_a_file_without_gains_changes_nothing(tmp_path):
    assert load_driver("lane_keep", file(tmp_path, "speed = 3\n")).gains == LaneKeepGains()
    assert load_driver("lane_keep_seed", file(tmp_path, "[gains.lane_keep]\nsteer_p = 2.0\n"))


def test_a_table_of_a_misspelled_driver_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"\[gains.lane_kep\]: no such driver; did you mean lane_keep\?"):
        load_driver("lane_keep", file(tmp_path, "[gains.lane_kep]\nsteer_p = 2\n"))


def test_a_driver_of_one_s_own_has_gains_under_its_file_s_name(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from dataclasses import dataclass\nfrom trailbrake.state.fields import quantity\n@dataclass(frozen=True)\n"
        "class G:\n    a: float = quantity('1', 'some', lo=0.0, hi=9.0, default=1.0)\n" + PLAIN +
        "    Gains = G\n    def __init__(self, gains=None): self.gains = gains or G()\n",
        encoding="utf-8",
    )  # fmt: skip
    config = file(tmp_path, "[gains.mine]\na = 7.5\n")
    assert load_driver(str(mine), config).gains.a == 7.5
    assert load_driver(f"{mine}:Driver", config).gains.a == 7.5


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
    values = gains.read_gains(file(tmp_path, f"[gains.d]\n{table}\n"))["d"]
    with pytest.raises(DataError) as caught:
        gains.build_gains(Two, values, "gains.toml, [gains.d]")
    assert str(caught.value) == f"gains.toml, [gains.d]: {said}"


def test_wrong_files(tmp_path):
    with pytest.raises(UsageError, match="cannot read the configuration, got No such file"):
        gains.read_gains(tmp_path / "none.toml")
    with pytest.raises(DataError, match="not TOML"):
        gains.read_gains(file(tmp_path, "[gains"))
    with pytest.raises(DataError, match="gains are no tables"):
        gains.read_gains(file(tmp_path, "gains = 3"))
    with pytest.raises(DataError, match=r"\[gains.line_follow\]: this driver has no gains"):
        load_driver("line_follow", file(tmp_path, "[gains.line_follow]\nx = 1\n"))


def test_what_is_written_can_be_read(tmp_path):
    some = Two(a=0.123456789, b=-0.5)
    path = file(tmp_path, gains.format_gains("d", some, "found by hand"))
    assert path.read_text("utf-8").splitlines()[:3] == [
        "# found by hand", "[gains.d]", "a = 0.123457  # s; the first",
    ]  # fmt: skip
    assert gains.build_gains(Two, gains.read_gains(path)["d"], "x") == Two(a=0.123457, b=-0.5)


@pytest.mark.parametrize(
    ("driver", "constant", "value"),
    [
        ("speed_hold", "speed", 15.0),
        ("speed_hold_torque", "speed", 15.0),
        ("heading_hold", "heading", 0.5),
        ("heading_hold_torque", "heading", -0.5),
        ("cruise", "speed", 10.0),
        ("brake_test", "brake_at", 120.0),
        ("double_lane_change", "speed", 12.0),
        ("convoy", "look_ahead", 50.0),
        ("lane_pid", "steer_p", 0.5),
        ("waypoint_follow", "ahead", 0.5),
        ("survey", "weave", 0.1),
        ("road_sight", "turn", 1.1),
    ],
)
def test_constants_of_drivers_are_gains_from_a_file_and_from_the_command_line(tmp_path, driver, constant, value):
    config = file(tmp_path, f"[gains.{driver}]\n{constant} = {value}\n")
    assert getattr(load_driver(driver, config).gains, constant) == value
    assert getattr(load_driver(driver, None, [f"{constant}={value}"]).gains, constant) == value


def test_the_command_line_goes_over_the_file(tmp_path):
    config = file(tmp_path, "[gains.heading_hold]\nheading = 1.0\nspeed = 12\n")
    driver = load_driver("heading_hold", config, ["heading=-1"])
    assert (driver.gains.heading, driver.gains.speed) == (-1.0, 12.0)


def test_numbers_of_a_constructor_count_as_constants(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(PLAIN + "    def __init__(self, share=0.25, name='x'): self.share = share\n", encoding="utf-8")
    assert load_driver(str(mine), None, ["share=0.5"]).share == 0.5
    with pytest.raises(UsageError, match="this driver has no constant name; there are: share"):
        load_driver(str(mine), None, ["name=3"])


def test_numbers_have_the_types_of_the_constructor_s_defaults(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(PLAIN + "    def __init__(self, target, horizon=10, rate=1.0, on=True):\n"
                    "        self.values = target, horizon, rate, on\n", encoding="utf-8")  # fmt: skip
    values = load_driver(str(mine), None, ["target=3", "horizon=20", "rate=2", "on=0"]).values
    assert repr(values) == "(3, 20, 2.0, False)"
    for text, said in (
        ("horizon=20.5", "horizon cannot be, expected a whole number, got 20.5"),
        ("on=2", "on cannot be, expected 1 or 0"),
        ("rate=nan", "expected KEY=NUMBER"),
        ("rate=inf", "expected KEY=NUMBER"),
    ):
        with pytest.raises(UsageError, match=said):
            load_driver(str(mine), None, ["target=3", text])
    with pytest.raises(DriverError, match=r"argument: 'target'.*--gain NAME=NUMBER"):
        load_driver(str(mine))


@dataclass(frozen=True)
class Plain:
    look: float = 0.6
    count: int = 3
    name: str = "x"


def test_plain_numbers_of_gains_are_gains_without_a_range():
    assert gains.build_gains(Plain, {"look": 1, "count": 4}, "--gain") == Plain(1.0, 4)
    with pytest.raises(DataError, match="no gain name; there are: count, look"):
        gains.build_gains(Plain, {"name": 1}, "--gain")
    with pytest.raises(DataError, match="Gains is no dataclass"):
        gains.build_gains(object, {"look": 1}, "--gain")


@pytest.mark.parametrize(
    ("driver", "text", "said"),
    [
        ("speed_hold", "speed", "--gain speed: no constant, expected KEY=NUMBER"),
        ("speed_hold", "speed=fast", "--gain speed=fast: no constant"),
        ("speed_hold", "sped=3", "no gain sped; did you mean speed"),
        ("speed_hold", "speed=1e9", "speed cannot be, expected 1 .. 100 m/s, got"),
        ("line_follow", "speed=3", "no constant speed; there are: learn, start_grip"),
        ("wall_follow", "speed=3", "no constant speed; it has none"),
    ],
)
def test_constants_that_cannot_be_are_one_line(driver, text, said):
    with pytest.raises((DataError, UsageError)) as caught:
        load_driver(driver, None, [text])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
