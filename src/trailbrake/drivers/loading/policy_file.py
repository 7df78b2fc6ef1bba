"""A policy that drives by pictures, as a file (`policy_archive`)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.control.network import Floats, NetworkLayer, count_outputs, run_network
from trailbrake.control.steer_distribution import elect_steer
from trailbrake.drivers.loading.policy_archive import (
    Arrays,
    Header,
    check_kind,
    parse_layers,
    read_archive,
    write_archive,
)
from trailbrake.observe.image_crop import CropSpec, crop_and_resize

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
