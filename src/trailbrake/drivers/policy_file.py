"""A policy as a file: NumPy's .npz with weights and a JSON header. Never pickle: files from anywhere may be opened."""

import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.control.network import Floats, NetworkLayer, count_outputs, run_network
from trailbrake.control.steer_distribution import elect_steer
from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.observe.image_crop import CropSpec, crop_and_resize
from trailbrake.user_files import open_user_file

SUFFIX = ".npz"
KIND, VERSION = "trailbrake policy", 1
MAX_BYTES = 64 << 20  # unpacked: a small file must not allocate unlimited memory
MAX_LAYERS = 64


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
    """Write a policy. UsageError where it cannot be written."""
    header = {
        "kind": KIND, "version": VERSION, "glance": asdict(policy.glance),
        "strides": [layer.stride for layer in policy.layers], "about": policy.about,
    }  # fmt: skip
    arrays = {"header": np.array(json.dumps(header))}
    for number, layer in enumerate(policy.layers):
        arrays[f"weight{number}"], arrays[f"bias{number}"] = layer.weight, layer.bias
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise UsageError("cannot write the policy", where=str(path), got=error.strerror or str(error)) from error


def read_policy(path: Path) -> ImagePolicy:
    """Read a policy.

    Raises:
        UsageError: there is no such file, or it cannot be read.
        DataError: it is no policy, or a newer one, or damaged.
    """
    try:
        with open_user_file(path, "policy", hint="make one with: trailbrake train clone") as file:
            with zipfile.ZipFile(file) as packed:
                size = sum(entry.file_size for entry in packed.infolist())
            if size > MAX_BYTES:
                raise DataError("too large for a policy", where=str(path), expected=f"{MAX_BYTES} bytes at most",
                                got=str(size))  # fmt: skip
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return _parse_policy({name: arrays[name] for name in arrays.files})
    except TrailbrakeError:
        raise
    except OSError as error:
        raise UsageError("cannot read the policy", where=str(path), got=error.strerror or str(error)) from error
    # The errors of zip, NumPy and JSON readers have no common base.
    except Exception as error:
        raise DataError("not a policy", where=str(path), expected=f"a {SUFFIX} file of trailbrake train clone",
                        got=" ".join(str(error).split())[:160] or type(error).__name__) from error  # fmt: skip


def _parse_policy(arrays: dict[str, Any]) -> ImagePolicy:
    header = json.loads(str(arrays["header"]))
    if header["kind"] != KIND:
        raise ValueError(f"a file of another kind: {str(header['kind'])[:40]!r}")
    if header["version"] != VERSION:
        raise ValueError(f"a policy of version {header['version']}, this one reads {VERSION}: upgrade trailbrake")
    strides = header["strides"]
    if not 1 <= len(strides) <= MAX_LAYERS:
        raise ValueError(f"{len(strides)} layers")
    layers = []
    for number, stride in enumerate(strides):
        weight, bias = arrays[f"weight{number}"], arrays[f"bias{number}"]
        if weight.dtype != np.float32 or bias.dtype != np.float32 or weight.ndim not in (2, 4) or bias.ndim != 1:
            raise ValueError(f"layer {number + 1} is of {weight.dtype} {weight.shape}")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ValueError(f"layer {number + 1} has numbers that are not finite")
        layers.append(NetworkLayer(weight, bias, int(stride)))
    glance = CropSpec(**header["glance"])
    if count_outputs(layers, (3, glance.height, glance.width)) < 3:
        raise ValueError("too few outputs")
    return ImagePolicy(glance, layers, dict(header["about"]))
