from dataclasses import dataclass
from pathlib import Path

import pytest

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.options import WorldOptions
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.embedded_worlds import build_world
from trailbrake.driving.session.world_properties import WorldProperties, change_options, parse_world, settle_world
from trailbrake.errors import UsageError
from trailbrake.sims.registry import find


def test_properties_are_parsed_with_their_types():
    found = parse_world(["car=random:7", "grip=0.9", "rain-after=2"])
    assert found == WorldProperties(car="random:7", grip=0.9, rain_after=2)
    assert parse_world([]) == WorldProperties()


@pytest.mark.parametrize("pair", ["griq=1", "grip", "grip=much", "grip=9", "rain_after=1.5"])
def test_what_no_world_has_is_refused(pair):
    with pytest.raises(UsageError, match="--world"):
        parse_world([pair])


def test_the_world_has_its_own_car_and_track_and_the_driver_those_of_the_options():
    options = DriveFlags(track="hartmoor", car="gt3", world=("car=random:7:kart", "track=oval@wet=0.5"))
    setup = make_setup(find("assetto"), options.make_spec())
    settled, _ = settle_world(setup.world, "car")
    assert (settled.car, settled.track) == ("random:7:kart", "oval@wet=0.5")
    assert (setup.spec.car, setup.spec.track) == ("gt3", "hartmoor")


def test_a_world_needs_a_car_and_miniature_worlds_have_no_such_properties():
    with pytest.raises(UsageError, match="--world car="):
        settle_world(WorldOptions(car="unknown"), "car")
    with pytest.raises(UsageError, match="miniature"):
        settle_world(WorldOptions(world=("grip=0.9",)), "miniature")


def test_a_live_drive_has_no_properties_of_the_world():
    with pytest.raises(UsageError, match="--live"):
        drive(DriveFlags(live=True, world=("grip=0.9",)).make_spec())


def test_a_built_world_drives_the_other_car():
    plant = build_world(find("assetto"), WorldOptions(track="hartmoor", car="gt3", world=("car=random:7:hatchback",)),
                        find("assetto").serve_options())  # fmt: skip
    assert [car.name for car in plant.cars] == ["random:7:hatchback"]


@dataclass(frozen=True)
class Example:
    count: int = 1
    share: float = 0.5
    file_path: Path | None = None
    on: bool = False


def test_texts_become_what_the_fields_are():
    found = change_options(Example(), ["count=3", "file-path=a/b=c", "on=true"], "--x", "the example")
    assert found == Example(count=3, file_path=Path("a/b=c"), on=True)


@pytest.mark.parametrize("pair", ["cuont=3", "count", "count=1.5", "share=half"])
def test_a_wrong_pair_names_the_flag(pair):
    with pytest.raises(UsageError, match="--x"):
        change_options(Example(), [pair], "--x", "the example")
