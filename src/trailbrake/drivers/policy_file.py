"""A policy as a file: NumPy's .npz with weights and a JSON header. Never pickle: files from anywhere may be opened."""

import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.control.network import Floats, Layer, forward, outputs_of
from trailbrake.control.votes import elected
from trailbrake.errors import DataError, UsageError
from trailbrake.observe.glance import Glance, shrink

SUFFIX = ".npz"
KIND, VERSION = "trailbrake policy", 1
MOST_BYTES = 64 << 20  # unpacked; a small file must not ask for all the memory there is
MOST_LAYERS = 64


@dataclass(frozen=True)
class Policy:
    """A network that turns a picture into a steer and a pedal: its last output is the pedal, those before it votes.

    Attributes:
        glance: what it sees of a picture.
        layers: of the network.
        about: what it was made of, JSON-able.
    """

    glance: Glance
    layers: Sequence[Layer]
    about: dict[str, Any] = field(default_factory=dict)

    def answer(self, picture: Any) -> tuple[float, float]:
        """Return steer (share of the lock, positive left) and pedal (throttle above 0, brake below) for a picture."""
        numbers = forward(self.layers, as_input(shrink(picture, self.glance)))
        return float(elected(numbers[None, :-1])[0]), min(max(float(numbers[-1]), -1.0), 1.0)


def as_input(seen: Any) -> Floats:
    """Return the network's input (3, height, width) for what is seen, (height, width, 3) uint8."""
    values: Floats = seen.transpose(2, 0, 1).astype(np.float32) / np.float32(127.5) - np.float32(1.0)
    return values


def write(path: Path, policy: Policy) -> None:
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


def read(path: Path) -> Policy:
    """Read a policy.

    Raises:
        UsageError: there is no such file, or it cannot be read.
        DataError: it is no policy, or a newer one, or damaged.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
        if size > MOST_BYTES:
            raise DataError("too large for a policy", where=str(path), expected=f"{MOST_BYTES} bytes at most",
                            got=str(size))  # fmt: skip
        with np.load(path, allow_pickle=False) as arrays:
            return _policy({name: arrays[name] for name in arrays.files})
    except FileNotFoundError as error:
        raise UsageError("no such policy", where=str(path), hint="make one with: trailbrake train clone") from error
    except OSError as error:
        raise UsageError("cannot read the policy", where=str(path), got=error.strerror or str(error)) from error
    except DataError:
        raise
    # What zip, NumPy and JSON readers raise on bytes that are something else has no common base.
    except Exception as error:
        raise DataError("not a policy", where=str(path), expected=f"a {SUFFIX} file of trailbrake train clone",
                        got=" ".join(str(error).split())[:160] or type(error).__name__) from error  # fmt: skip


def _policy(arrays: dict[str, Any]) -> Policy:
    header = json.loads(str(arrays["header"]))
    if header["kind"] != KIND:
        raise ValueError(f"a file of another kind: {str(header['kind'])[:40]!r}")
    if header["version"] != VERSION:
        raise ValueError(f"a policy of version {header['version']}, this one reads {VERSION}: upgrade trailbrake")
    strides = header["strides"]
    if not 1 <= len(strides) <= MOST_LAYERS:
        raise ValueError(f"{len(strides)} layers")
    layers = []
    for number, stride in enumerate(strides):
        weight, bias = arrays[f"weight{number}"], arrays[f"bias{number}"]
        if weight.dtype != np.float32 or bias.dtype != np.float32 or weight.ndim not in (2, 4) or bias.ndim != 1:
            raise ValueError(f"layer {number + 1} is of {weight.dtype} {weight.shape}")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ValueError(f"layer {number + 1} has numbers that are not finite")
        layers.append(Layer(weight, bias, int(stride)))
    glance = Glance(**header["glance"])
    if outputs_of(layers, (3, glance.height, glance.width)) < 3:
        raise ValueError("too few outputs")
    return Policy(glance, layers, dict(header["about"]))
