"""A policy learned by `trailbrake train rl` as a driver: `--driver policy:FILE`.

A policy that drives by a car's state, a map and a car file, as a file (`policy_archive`).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Floats
from trailbrake.cars.car_library import car_names, load_car
from trailbrake.control.network import NetworkLayer, count_outputs, run_network
from trailbrake.drivers.loading.policy_archive import (
    Arrays,
    Header,
    check_kind,
    parse_layers,
    read_archive,
    write_archive,
)
from trailbrake.drivers.parts.road_return import RoadReturn
from trailbrake.observe.actions import OUTPUTS, CommandLimits
from trailbrake.observe.parts import PARTS, find_part
from trailbrake.observe.state_observer import StateObserver
from trailbrake.observe.task_spec import TaskSpec
from trailbrake.planning.course import Course, tabulate_plan
from trailbrake.state import CarState, Controls

KIND, VERSION = "trailbrake race policy", 1
MAX_NORMALISED = 10.0  # bound of a normalised number
ACTION = "steer_pedal"  # of the environments that it learns in


@dataclass(frozen=True)
class RacePolicy:
    """A network from an observation to a change of the steer and a pedal.

    Attributes:
        observe: names of the parts of its observation.
        limits: of its commands.
        mean: (width,) float32, subtracted from observations.
        scale: (width,) float32, what that is divided by.
        layers: of the network.
        about: where it comes from, JSON-able.
        is_squashed: whether its outputs are hyperbolic tangents of the network's numbers.
        on_kerbs: whether the plan that it observes uses the kerbs.
        plan_car: name of the car whose plan it observes whatever it drives; "": the plan of what it drives.
        plan_share: of the planned speeds, which it is shown as the plan's: less than 1 makes it careful.
    """

    observe: tuple[str, ...]
    limits: CommandLimits
    mean: Floats
    scale: Floats
    layers: Sequence[NetworkLayer]
    about: dict[str, Any] = field(default_factory=dict)
    is_squashed: bool = False
    on_kerbs: bool = False
    plan_car: str = ""
    plan_share: float = 1.0

    def compute_commands(self, observation: Floats, previous: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return steer and pedal (2,) for an observation (width,); `previous` (2,) are those before."""
        outputs = self.squash_outputs(run_network(self.layers, normalise(observation, self.mean, self.scale)))
        commands: NDArray[np.float64] = self.limits.next_commands(outputs[None], previous[None])[0]
        return commands

    def squash_outputs(self, numbers: Floats) -> Floats:
        """Return the policy's outputs for those of its last layer, of any shape."""
        return np.tanh(numbers) if self.is_squashed else numbers


def normalise(observations: Floats, mean: Floats, scale: Floats) -> Floats:
    """Return observations (..., width) as a network takes them; `mean` and `scale` (width,)."""
    values: Floats = np.clip((observations - mean) / scale, -MAX_NORMALISED, MAX_NORMALISED)
    return values


def digest_observation(observe: Sequence[str]) -> str:
    """Return a hash of what the parts of an observation contain, which another version may define differently."""
    return hashlib.sha256(repr([find_part(name) for name in observe]).encode()).hexdigest()[:16]


def write_race_policy(path: Path, policy: RacePolicy) -> None:
    """Write a policy, whole or not at all. UsageError where it cannot be written."""
    header = {
        "kind": KIND, "version": VERSION, "observe": list(policy.observe),
        "observation": digest_observation(policy.observe), "limits": asdict(policy.limits),
        "layers": len(policy.layers), "is_squashed": policy.is_squashed, "on_kerbs": policy.on_kerbs,
        "plan_car": policy.plan_car, "plan_share": policy.plan_share, "about": policy.about,
    }  # fmt: skip
    write_archive(path, header, policy.layers, {"mean": policy.mean, "scale": policy.scale})


def read_race_policy(path: Path) -> RacePolicy:
    """Read a policy.

    Raises:
        UsageError: there is no such file, or it cannot be read.
        DataError: it is no policy, of other observations or a newer version, or damaged.
    """
    return read_archive(path, parse_race_policy)


def parse_race_policy(header: Header, arrays: Arrays) -> RacePolicy:
    """Return the policy of a file's header and arrays; an exception where they are none."""
    check_kind(header, KIND, VERSION)
    observe = tuple(header["observe"])
    unknown = [name for name in observe if not isinstance(name, str) or name not in PARTS]
    if unknown or not observe or digest_observation(observe) != header["observation"]:
        what = ", ".join(map(str, unknown or observe))[:80]
        raise ValueError(f"it observes what this version does not supply: {what}; train it again")
    layers = parse_layers(arrays, [1] * int(header["layers"]))
    width = sum(PARTS[name].width for name in observe)
    if count_outputs(layers, (1, 1, width)) != OUTPUTS or any(layer.is_convolution for layer in layers):
        raise ValueError(f"no network with {width} inputs and {OUTPUTS} outputs")
    for name in ("mean", "scale"):
        values = arrays[name]
        if values.dtype != np.float32 or values.shape != (width,) or not np.isfinite(values).all():
            raise ValueError(f"{name} is no {width} finite numbers")
    if not (arrays["scale"] > 0.0).all():
        raise ValueError("a scale that is not positive")
    limits = CommandLimits(**header["limits"])
    is_squashed, on_kerbs = (bool(header.get(name, False)) for name in ("is_squashed", "on_kerbs"))
    about, plan_car = dict(header["about"]), str(header.get("plan_car", ""))
    if plan_car not in ("", *car_names()):  # no file: a policy goes from machine to machine, and may be a stranger's
        raise ValueError(f"it observes the plan of a car that this version does not have: {plan_car[:40]!r}")
    share = float(header.get("plan_share", 1.0))
    if not 0.0 < share <= 1.0:
        raise ValueError("a share of the plan that is not above 0, 1 at most")
    kinds = is_squashed, on_kerbs, plan_car, share
    return RacePolicy(observe, limits, arrays["mean"], arrays["scale"], layers, about, *kinds)


class Driver:
    """Drives by a network that observes the car's state, the road ahead and, if it learned so, a plan of the lap.

    A command holds for the period that the policy learned with, however short the period of the wire is.

    Args:
        policy: the policy.

    Attributes:
        NEEDS: what its observation needs.
        COURSE_NEEDS: the track; and the car, unless the policy observes another car's plan.
        uses_kerbs: whether the line that it observes uses the kerbs.
    """

    OPTIONAL_COMMANDS = RoadReturn.COMMANDS

    def __init__(self, policy: RacePolicy) -> None:
        self.policy = policy
        self.uses_kerbs = policy.on_kerbs
        self._plan_car = load_car(policy.plan_car) if policy.plan_car else None
        self.COURSE_NEEDS = frozenset({"track"} if self._plan_car else {"track", "car"})
        self._task = TaskSpec(policy.observe, action=ACTION)
        self.NEEDS = self._task.observation_needs | {"x", "y", "yaw", "speed", "time"}
        self.USES = RoadReturn.USES - self.NEEDS

    def reset(self, course: Course) -> None:
        """Plan the lap where the policy observes a plan, and forget the last command."""
        self._road_return = RoadReturn(course)
        if self._plan_car is not None:
            course = Course(course.track, self._plan_car)
        course = course.with_kerbs() if self.uses_kerbs else course
        plan = tabulate_plan(course) if self._task.needs_plan else None
        if plan is not None:
            plan = plan._replace(speed=self.policy.plan_share * plan.speed)
        self._observer = StateObserver(self._task, course.track.road, course.known_car(), plan=plan)
        self._restart()

    def _restart(self) -> None:
        self._observer.reset()
        self._commands: NDArray[np.float64] = np.zeros(2)
        self._controls: Any = None
        self._elapsed = 0.0

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        rescue = self._road_return.rescue(state, dt)
        if rescue is not None:
            self._restart()
            return rescue
        self._elapsed += dt
        # Half a sample early rather than half a sample late: a whole number of samples is nearest to the period.
        if self._controls is None or dt == 0.0 or self._elapsed >= self.policy.limits.period - 0.5 * dt:
            self._elapsed = 0.0
            observation = self._observer.observe(state)
            self._commands = self.policy.compute_commands(observation, self._commands)
            self._controls = self._observer.decode_action(self._commands)
        return Controls(
            steer=self._controls.steer, throttle=self._controls.throttle, brake=self._controls.brake, gear=None
        )
