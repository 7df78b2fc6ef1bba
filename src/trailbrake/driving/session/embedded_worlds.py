"""Builds the embedded world behind a simulator's wire, by the kind that the Simulator declares, and the host before it.

`WorldProperties`: what such a world has and does that its drivers are not informed of: `--world KEY=VALUE`.
The modules of worlds with a camera are imported when one is built: a start without a camera does not wait for them.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.loop.supervisor import Supervisor, explain_driver_error
from trailbrake.driving.options import WorldOptions
from trailbrake.driving.session.driver_choice import check_driver_needs
from trailbrake.driving.spec import MAX_CARS, UNKNOWN_CAR, WORLD_DEFAULTS
from trailbrake.errors import DataError, UsageError, suggest_names
from trailbrake.planning.course import Course
from trailbrake.roles import Driver, Host, Plant, RoadPlant, TrafficHost
from trailbrake.simulator import AnySimulator, WorldKind
from trailbrake.state import CarState, Controls
from trailbrake.system.breakable_call import OURS
from trailbrake.tracks.track_library import load_track
from trailbrake.world.conditions import WorldConditions
from trailbrake.world.plant import World

Options = TypeVar("Options")


def change_options(base: Options, pairs: Sequence[str], flag: str, owner: str) -> Options:
    """Return a dataclass of options with the values of `pairs`, converted to the types of its fields.

    Args:
        base: the dataclass.
        pairs: KEY=VALUE; in keys, - stands for _.
        flag: where the pairs come from, for errors.
        owner: what has the options, for errors.

    Raises:
        UsageError: no such option, or a value that it cannot have.
    """
    import msgspec

    assert is_dataclass(base)
    assert not isinstance(base, type)
    known = [item.name for item in fields(base)]
    values = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.replace("-", "_")
        if not equals or name not in known:
            raise UsageError(f"no such option of {owner}", where=f"{flag} {pair}",
                             expected="KEY=VALUE", hint=suggest_names(name, known))  # fmt: skip
        values[name] = value
    try:
        converted = msgspec.convert(values, type(base), strict=False, dec_hook=_convert_path)  # numbers come as text
    except msgspec.ValidationError as error:
        raise UsageError(str(error), where=f"{flag} {' '.join(pairs)}") from error
    given = asdict(converted)
    changed: Options = replace(base, **{name: given[name] for name in values})
    return changed


def _convert_path(wanted: type, value: object) -> object:
    """Return the path of a text; TypeError for another type that msgspec does not know."""
    if wanted is Path and isinstance(value, str):
        return Path(value)
    raise TypeError(f"Expected `{wanted.__name__}`, got `{type(value).__name__}`")


TrafficDriver = Callable[[CarState, float], Controls]


class EmbeddedWorld(NamedTuple):
    """A world to build.

    Attributes:
        track: a track's name or file.
        car: of all its cars, a name or file.
        seed: of the world.
        conditions: what changes during the drive.
    """

    track: str
    car: str
    seed: int
    conditions: WorldConditions


def build_world(simulator: AnySimulator, world: EmbeddedWorld, options: object) -> Plant:
    """Return a new Plant for a host of `simulator` with the serve options `options`.

    Raises:
        UsageError: no such track, car or look; more cars than the world has, or more parked ones than fit.
        DataError: a file that is no track or no car.
    """
    if world.car == UNKNOWN_CAR:
        raise UsageError("the world needs a car", where=f"--car {UNKNOWN_CAR}", hint="add --world car=CAR")
    cars = simulator.count_cars(options)
    if not 1 <= cars <= MAX_CARS:
        raise UsageError("a world needs a car" if cars < 1 else "no number of cars", where="serve",
                         expected=f"1 to {MAX_CARS}", got=str(cars)[:40])  # fmt: skip
    return _WORLD_BUILDERS[simulator.world](simulator, world, options)


def _build_car_world(simulator: AnySimulator, world: EmbeddedWorld, options: object) -> Plant:
    cars = [load_car(world.car)] * simulator.count_cars(options)
    period = simulator.period(options)
    return World(load_track(world.track), cars, seed=world.seed, period=period, conditions=world.conditions)


def _build_road_world(simulator: AnySimulator, world: EmbeddedWorld, options: object) -> Plant:
    from trailbrake.world.plant import CameraWorld

    cars = [load_car(world.car)] * simulator.count_cars(options)
    camera = None if simulator.camera is None else dict(simulator.camera)
    period = simulator.period(options)
    return CameraWorld(load_track(world.track), cars, world.seed, period, camera, conditions=world.conditions)


def _build_miniature_world(simulator: AnySimulator, world: EmbeddedWorld, options: Any) -> Plant:
    from trailbrake.world.miniature.parked_cars import place_parked_cars
    from trailbrake.world.miniature.track_library import load_miniature_track
    from trailbrake.world.miniature.world import MiniatureWorld

    own = WORLD_DEFAULTS["miniature"][1]
    if world.car != own:
        raise UsageError("the miniature world has one car", where="car", expected=own, got=repr(world.car))
    track = load_miniature_track(world.track)
    parked = place_parked_cars(track, options.obstacles, world.seed)
    plant = MiniatureWorld(track, options.look, parked, simulator.period(options))
    # Compiles or loads the kernels now: an agent that receives its first picture late may have hung up.
    plant.step([Controls()])
    plant.renderer.render_frame(0.0, 0.0, 0.0)
    plant.reset(world.seed)
    return plant


_WORLD_BUILDERS: dict[WorldKind, Callable[[AnySimulator, EmbeddedWorld, object], Plant]] = {
    "car": _build_car_world,
    "road": _build_road_world,
    "miniature": _build_miniature_world,
}


def load_traffic_drivers(name: str, simulator: AnySimulator, plant: RoadPlant) -> list[TrafficDriver]:
    """Return one driver per car of `plant`: that called `name`, after reset, each behind a supervisor of its own."""
    courses = {id(car): Course(plant.track, car) for car in plant.cars}
    drivers = []
    for number, car in enumerate(plant.cars):
        driver = load_driver(name)
        check_driver_needs(driver, name, simulator)
        driver.reset(courses[id(car)])
        drivers.append(_guard_driver(driver, number))
    return drivers


def _guard_driver(driver: Driver, number: int) -> TrafficDriver:
    supervisor = Supervisor()

    def drive(state: CarState, dt: float) -> Controls:
        if not supervisor.stop_reason:
            try:
                return supervisor.limit_controls(driver.act(state, dt), dt)
            except OURS:
                raise
            except BaseException as error:  # a served world outlives its drivers
                supervisor.request_stop(explain_driver_error(error))
                print(f"trailbrake: car {number}: {supervisor.stop_reason}", file=sys.stderr, flush=True)
        return supervisor.safe_stop_controls(state)

    return drive


def build_host(simulator: AnySimulator, plant: Plant, options: object, doors: str | None) -> Host:
    """Return a host of `simulator` in front of `plant`, not open yet; with its traffic, where the options want any.

    Args:
        simulator: whose wire.
        plant: what `build_world` made of the same options.
        options: the simulator's serve options.
        doors: folder of a private wire; None for the public addresses.
    """
    host = simulator.make_host(plant, options, doors=doors)
    if isinstance(host, TrafficHost) and host.traffic_driver:
        if not isinstance(plant, RoadPlant):
            raise DataError(
                "the world has no road for traffic", where=f"{simulator.name}, host", expected="a RoadPlant"
            )
        host.set_traffic(load_traffic_drivers(host.traffic_driver, simulator, plant))
    return host


@dataclass(frozen=True, kw_only=True)
class WorldProperties(WorldConditions):
    """The properties that `--world` names.

    Attributes:
        car: a car's name or file; "" = that of --car.
        track: a track's name or file; "" = that of --track.
    """

    car: str = ""
    track: str = ""


def parse_world(pairs: Sequence[str]) -> WorldProperties:
    """Return the properties that the texts KEY=VALUE name; UsageError for others."""
    return change_options(WorldProperties(), pairs, "--world", "the embedded world")


def settle_world(options: WorldOptions, kind: WorldKind) -> EmbeddedWorld:
    """Return the world of options, with the usual track and car of its kind where none are named.

    Raises:
        UsageError: a property that this kind of world does not have.
    """
    properties = parse_world(options.world)
    if kind == "miniature" and options.world:
        raise UsageError("the miniature world has no such properties", where=f"--world {options.world[0]}")
    track, car = WORLD_DEFAULTS[kind]
    return EmbeddedWorld(properties.track or options.track or track, properties.car or options.car or car, options.seed,
                         properties)  # fmt: skip
