"""One checker over every driver that ships, and goldens for each."""

import json
from pathlib import Path

import pytest

from trailbrake import check_driver
from trailbrake.drivers.loading import driver_registry
from trailbrake.sims import registry

GOLDENS = Path(__file__).resolve().parents[1] / "golden"
CLOSED_LOOP = {"manoeuvres.json": "manoeuvres", "camera.json": "drivers", "road.json": "drivers"}  # file: its table


@pytest.mark.parametrize("name", driver_registry.driver_names())
def test_nothing_is_wrong_with_it(name):
    assert check_driver(name) == []


@pytest.mark.parametrize("name", driver_registry.driver_names())
def test_it_says_what_it_is_and_some_simulator_supplies_what_it_needs(name):
    cls = driver_registry.builtin_driver_class(name)
    assert cls.__doc__
    assert any(simulator.supplies >= cls.NEEDS for simulator in registry.list_simulators().simulators)


def test_every_driver_stands_in_a_closed_loop_golden():
    tables = [json.loads((GOLDENS / file).read_text())[table] for file, table in CLOSED_LOOP.items()]
    # `drives.json` names tracks and cars: the laps of the driver that drives where none is named.
    assert set().union(*tables) | {"line_follow"} == set(driver_registry.driver_names())


def test_every_driver_stands_in_the_open_loop_golden():
    kept = json.loads((GOLDENS / "open_loop" / "controls.json").read_text())["controls"]
    assert set().union(*kept.values()) == set(driver_registry.driver_names())
