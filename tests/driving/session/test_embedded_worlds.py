import math
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.options import WorldOptions
from trailbrake.driving.serve import serve_world
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.embedded_worlds import (
    WorldProperties,
    build_world,
    change_options,
    parse_world,
    settle_world,
)
from trailbrake.errors import UsageError
from trailbrake.event_sims.options import EventLiveOptions
from trailbrake.sims.registry import find
from trailbrake.sims.trend.link import Link
from trailbrake.sims.trend.spec import ServeOptions
from trailbrake.state import Controls
from trailbrake.world.miniature.track import HalfColumn
from trailbrake.world.miniature.world import MiniatureWorld


def build(simulator, world, options):
    return build_world(simulator, settle_world(world, simulator.world), options)


def test_a_simulator_gets_the_kind_of_world_that_it_asks_for():
    plant = build(find("trend"), WorldOptions(track="kite"), ServeOptions(look="A"))
    assert isinstance(plant, MiniatureWorld)
    assert plant.track.name == "kite"
    assert plant.period == 0.02
    assert plant.car_state(0).time == 0.0
    assert (plant.car_state(0).image.pixels[0] == 255).all()  # look A's sky


@pytest.mark.parametrize(("sim", "shape"), [("udacity", (160, 320, 3)), ("donkeycar", (120, 160, 3))])
def test_by_the_road_the_camera_is_the_simulator_s(sim, shape):
    simulator = find(sim)
    plant = build(simulator, WorldOptions(), simulator.serve_options())
    assert (plant.track.name, plant.cars[0].name) == ("lakeside", "hatchback")
    assert plant.car_state(0).image.pixels.shape == shape


def test_defaults_follow_the_kind_of_world():
    spec = DriveFlags(sim="trend").make_spec().with_site_defaults("miniature")
    assert (spec.track, spec.car) == ("clover", "miniature")
    assert (
        DriveFlags().make_spec().with_site_defaults("car").track
        == settle_world(WorldOptions(), "car").track
        == "hartmoor"
    )


def test_the_seed_places_parked_cars():
    places = [
        np.array([(car.x, car.y) for car in build(find("trend"), WorldOptions(seed=seed), options).parked])
        for seed, options in (
            (1, ServeOptions(obstacles=2)),
            (1, ServeOptions(obstacles=2)),
            (2, ServeOptions(obstacles=2)),
        )
    ]
    assert np.array_equal(places[0], places[1])
    assert not np.array_equal(places[0], places[2])


@pytest.mark.parametrize(
    ("world", "options", "words"),
    [
        (WorldOptions(track="clovr"), ServeOptions(), "did you mean clover"),
        (WorldOptions(track="hartmoor"), ServeOptions(), "no such miniature track"),
        (WorldOptions(car="gt3"), ServeOptions(), "one car"),
        (WorldOptions(), ServeOptions(look="C"), "no such look"),
        (WorldOptions(), ServeOptions(obstacles=-1), "parked cars"),
        (WorldOptions(), ServeOptions(obstacles=19), "parked cars"),
    ],
)
def test_what_is_not_there_is_one_line(world, options, words):
    with pytest.raises(UsageError, match=words) as error:
        build(find("trend"), world, options)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_race_that_is_over_ends_the_serving(tmp_path, monkeypatch):
    # An agent that drives by the truth, round the shortest half, on the other end of the real wire.
    plant = build(find("trend"), WorldOptions(track="oval"), ServeOptions())
    table = plant.track.halves[0]
    link = Link(EventLiveOptions(), doors=tmp_path)
    link.open(0.0)
    step = plant.step

    def steered(controls):
        row = plant.car_state(0)
        near = int(np.argmin((table[:, HalfColumn.X] - row.x) ** 2 + (table[:, HalfColumn.Y] - row.y) ** 2))
        ahead = table[(near + 14) % len(table)]
        angle = math.remainder(
            math.atan2(ahead[HalfColumn.Y] - row.y, ahead[HalfColumn.X] - row.x) - row.yaw, 2.0 * math.pi
        )
        step([Controls(steer=max(min(1.5 * angle, 1.0), -1.0), throttle=controls[0].throttle)])

    monkeypatch.setattr(plant, "step", steered)
    now = iter(range(10**9))

    def answer():
        while not over.is_set():
            link.has_new_sample()
            link.read(next(now) * 1e-6)
            link.write(Controls(throttle=1.0))
            over.wait(0.0005)

    over = threading.Event()
    agent = threading.Thread(target=answer)
    agent.start()
    try:
        world = WorldOptions(track="oval", seconds=60.0, speed="max")
        result = serve_world(find("trend"), world, ServeOptions(laps=1), doors=str(tmp_path), plant=plant)
    finally:
        over.set()
        agent.join()
        link.close()
    assert [lap["valid"] for lap in result["laps"][0]] == [True]
    assert result["seconds"] < 60.0
    assert result["world"]["contacts"] == 0


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
    assert (setup.world.car, setup.world.track) == ("random:7:kart", "oval@wet=0.5")
    assert (setup.spec.car, setup.spec.track) == ("gt3", "hartmoor")


def test_a_world_needs_a_car_and_miniature_worlds_have_no_such_properties():
    with pytest.raises(UsageError, match="--world car="):
        build(find("assetto"), WorldOptions(car="unknown"), find("assetto").serve_options())
    with pytest.raises(UsageError, match="miniature"):
        settle_world(WorldOptions(world=("grip=0.9",)), "miniature")


def test_a_live_drive_has_no_properties_of_the_world():
    with pytest.raises(UsageError, match="--live"):
        drive(DriveFlags(live=True, world=("grip=0.9",)).make_spec())


def test_a_built_world_drives_the_other_car():
    plant = build(find("assetto"), WorldOptions(track="hartmoor", car="gt3", world=("car=random:7:hatchback",)),
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
