"""The worlds that can stand behind a simulator's wire, by the kind that its `spec.WORLD` names.

Those with a camera are imported when they are asked for: a start without one need not wait for them.
"""

from typing import Any

from trailbrake.cars.load import load as load_car
from trailbrake.errors import UsageError
from trailbrake.run.options import DEFAULTS, WorldOptions, world_kind
from trailbrake.sims import registry
from trailbrake.state import Controls
from trailbrake.tracks.load import load as load_track
from trailbrake.world.plant import World


def build_world(sim: str, world: WorldOptions, options: Any) -> Any:
    """Return a new Plant for a host of `sim` with its own `spec.ServeOptions`.

    The miniature world's track and car are of types of their own, which its hosts do not look at.

    Raises:
        UsageError: no such track, car or look; more cars than the world has, or more parked ones than fit.
        DataError: a file that is no track or no car.
    """
    world = world.named(sim)
    spec = registry.part(sim, "spec")
    if spec.cars(options) < 1:
        raise UsageError("a world needs a car", where="serve", expected="1 or more", got=str(spec.cars(options)))
    return _WORLDS[world_kind(sim)](world, options, spec)


def _cars(world: WorldOptions, options: Any, spec: Any) -> World:
    cars = [load_car(world.car)] * spec.cars(options)
    return World(load_track(world.track), cars, seed=world.seed, period=spec.period(options))


def _road(world: WorldOptions, options: Any, spec: Any) -> World:
    from trailbrake.world.seen import SeenWorld

    cars = [load_car(world.car)] * spec.cars(options)
    camera = spec.camera() if hasattr(spec, "camera") else None
    return SeenWorld(load_track(world.track), cars, world.seed, spec.period(options), camera)


def _miniature(world: WorldOptions, options: Any, spec: Any) -> Any:
    from trailbrake.tracks.miniature.load import load as load_miniature
    from trailbrake.tracks.miniature.obstacles import park
    from trailbrake.world.miniature import MiniatureWorld

    own = DEFAULTS["miniature"][1]
    if world.car != own:
        raise UsageError("the miniature world has one car", where="--car", expected=own, got=repr(world.car))
    track = load_miniature(world.track)
    parked = park(track, options.obstacles, world.seed)
    plant = MiniatureWorld(track, options.look, parked, spec.period(options))
    # Compiles or loads the kernels now: an agent that is shown its first picture late may have hung up.
    plant.step([Controls()])
    plant.renderer.frame(0.0, 0.0, 0.0)
    plant.reset(world.seed)
    return plant


_WORLDS = {"car": _cars, "road": _road, "miniature": _miniature}
