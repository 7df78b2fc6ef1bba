"""The console's line: names and numbers that the game's controller reads, and flags that cannot be."""

import re

import pytest

from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.errors import UsageError
from trailbrake.sims.beamng.setup import SetupOptions, run

# The keys that the controller's initialSetup(config) reads, as the protocol page lists them.
KEYS = {"udpSendIP", "udpSendPort", "udpReceiveIP", "udpReceivePort", "simulinkTime", "pingTime", "debugFile"}


def starts(options):
    return [line for line in run(options) if line.startswith("extensions.load")]


def table(line):
    inside = re.fullmatch(
        r"extensions\.load\('tech/vehicleSystemsCoupling'\); "
        r"tech_vehicleSystemsCoupling\.startCoupling\(\{(.*)\}\)", line
    ).group(1)  # fmt: skip
    return dict(part.split(" = ") for part in inside.split(", "))


def test_the_defaults_are_the_game_s_own():
    assert table(*starts(SetupOptions())) == {
        "simulinkTime": "0.005", "pingTime": "0.00001", "udpSendIP": "'127.0.0.1'", "udpSendPort": "64890",
        "udpReceiveIP": "'127.0.0.1'", "udpReceivePort": "64891",
    }  # fmt: skip


def test_the_line_has_the_options():
    options = SetupOptions(listen="192.168.1.5:7000", peer="192.168.1.9:7001", simulink_time=0.0005, ping_time=0.002,
                      debug_file=True)  # fmt: skip
    found = table(*starts(options))
    assert set(found) == KEYS
    assert found["udpSendIP"] == "'192.168.1.5'"
    assert found["udpReceiveIP"] == "'192.168.1.9'"
    assert (found["udpSendPort"], found["udpReceivePort"]) == ("7000", "7001")
    assert (found["simulinkTime"], found["pingTime"], found["debugFile"]) == ("0.0005", "0.002", "true")


def test_each_vehicle_has_a_pair_of_ports():
    ports = [(found["udpSendPort"], found["udpReceivePort"]) for found in map(table, starts(SetupOptions(vehicles=3)))]
    assert ports == [("64890", "64891"), ("64892", "64893"), ("64894", "64895")]


def test_a_period_that_is_rounded_up_is_said():
    text = " ".join(run(SetupOptions(simulink_time=0.0007)))
    assert "rounded up" in text
    assert "must be 0.001 s" in text
    assert "--simulink-time 0.0007" in text
    assert "rounded up" not in " ".join(run(SetupOptions()))


def test_the_command_at_the_end_needs_no_road_and_is_one_that_exists():
    *_, line, _, _ = run(SetupOptions())
    words = line.split("trailbrake ")[1].split()
    assert words[:4] == ["drive", "--sim", "beamng", "--live"]
    driver = load_driver(words[words.index("--driver") + 1])
    assert {"yaw", "speed"} == driver.NEEDS, "no position: it follows no road"
    assert words[words.index("--gain") + 1] == "speed=3"


def test_a_period_that_our_link_does_not_take_prints_no_command():
    *_, line = run(SetupOptions(simulink_time=0.5))
    assert line == "trailbrake's own controller needs 0.2 s or less between two messages."


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        (SetupOptions(listen="0.0.0.0:64890"), "--listen"),
        (SetupOptions(listen="64890"), "--listen"),
        (SetupOptions(peer="here"), "--peer"),
        (SetupOptions(simulink_time=0.0), "--simulink-time"),
        (SetupOptions(ping_time=-1.0), "--ping-time"),
        (SetupOptions(vehicles=0), "--vehicles"),
    ],
)
def test_flags_that_cannot_be(options, flag):
    with pytest.raises(UsageError, match=flag):
        list(run(options))
