"""Learned policies as drivers: `--driver policy:FILE`, a file of `trailbrake train`.

A policy that drives by pictures, as a file (`policy_archive`).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.arrays import Floats
from trailbrake.control.network import NetworkLayer, count_outputs, elect_steer, run_network
from trailbrake.drivers.loading import race_policy
from trailbrake.drivers.loading.policy_archive import (
    SUFFIX,
    Arrays,
    Header,
    check_kind,
    parse_layers,
    read_archive,
    write_archive,
)
from trailbrake.drivers.loading.race_policy import RacePolicy
from trailbrake.observe.image_crop import CropSpec, crop_and_resize
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, Image

PREFIX = "policy:"  # in place of a driver's name, before the file or the name of one that comes with the package
KIND, VERSION = "trailbrake policy", 1


@dataclass(frozen=True)
class ImagePolicy:
    """A network from a picture to a steer and a pedal: its last output is the pedal, the others vote for the steer.

    Attributes:
        glance: crop and size of its input.
        layers: of the network.
        about: where it comes from, JSON-able.
    """

    glance: CropSpec
    layers: Sequence[NetworkLayer]
    about: dict[str, Any] = field(default_factory=dict)

    def compute_controls(self, picture: Any) -> tuple[float, float]:
        """Return steer (share of the lock, positive left) and pedal (throttle above 0, brake below) for a picture."""
        numbers = run_network(self.layers, network_input(crop_and_resize(picture, self.glance)))
        return float(elect_steer(numbers[None, :-1])[0]), min(max(float(numbers[-1]), -1.0), 1.0)


def network_input(seen: Any) -> Floats:
    """Return the network's input (3, height, width) for a cropped picture, (height, width, 3) uint8."""
    values: Floats = seen.transpose(2, 0, 1).astype(np.float32) / np.float32(127.5) - np.float32(1.0)
    return values


def write_policy(path: Path, policy: ImagePolicy) -> None:
    """Write a policy, whole or not at all. UsageError where it cannot be written."""
    header = {
        "kind": KIND, "version": VERSION, "glance": asdict(policy.glance),
        "strides": [layer.stride for layer in policy.layers], "about": policy.about,
    }  # fmt: skip
    write_archive(path, header, policy.layers, {})


def read_policy(path: Path) -> ImagePolicy:
    """Read a policy.

    Raises:
        UsageError: there is no such file, or it cannot be read.
        DataError: it is no policy, or a newer one, or damaged.
    """
    return read_archive(path, parse_policy)


def parse_policy(header: Header, arrays: Arrays) -> ImagePolicy:
    """Return the policy of a file's header and arrays; an exception where they are none."""
    check_kind(header, KIND, VERSION)
    layers = parse_layers(arrays, header["strides"])
    glance = CropSpec(**header["glance"])
    if count_outputs(layers, (3, glance.height, glance.width)) < 3:
        raise ValueError("too few outputs")
    return ImagePolicy(glance, layers, dict(header["about"]))


def find_policy_file(spec: str) -> Path:
    """Return the file of `policy:FILE`, or of `policy:NAME` for one that comes with the package."""
    name = spec.removeprefix(PREFIX)
    shipped = Path(__file__).with_name(f"{name}{SUFFIX}") if name.isidentifier() else None
    return shipped if shipped is not None and shipped.is_file() else Path(name)


def load_policy_driver(path: Path) -> "Driver | race_policy.Driver":
    """Return the driver of a policy's file.

    Raises:
        UsageError: there is no such file, or it cannot be read.
        DataError: it is no policy, of other observations or a newer version, or damaged.
    """
    policy = read_archive(path, _parse_any_policy)
    return race_policy.Driver(policy) if isinstance(policy, RacePolicy) else Driver(policy)


def _parse_any_policy(header: Header, arrays: Arrays) -> ImagePolicy | RacePolicy:
    if header["kind"] == race_policy.KIND:
        return race_policy.parse_race_policy(header, arrays)
    return parse_policy(header, arrays)


class Driver:
    """Steers and drives by a network whose only input is the newest picture.

    Args:
        policy: the policy.
    """

    NEEDS = frozenset({"image"})

    def __init__(self, policy: ImagePolicy) -> None:
        self.policy = policy
        self._seen: Image | None = None
        self._answer = (0.0, 0.0)

    def reset(self, course: Course) -> None:
        """Forget the last picture: the driver has no other memory."""
        self._seen = None

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        if state.image is None:
            return Controls(throttle=0.0, gear=1)
        if state.image is not self._seen:  # a camera may be slower than the wire, and the answer stays
            self._seen, self._answer = state.image, self.policy.compute_controls(state.image.pixels)
        steer, pedal = self._answer
        return Controls(steer=steer, throttle=max(pedal, 0.0), brake=max(-pedal, 0.0), gear=1)
