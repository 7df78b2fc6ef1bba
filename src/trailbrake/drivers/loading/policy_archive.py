"""Policies as files: NumPy's .npz with a JSON header. Never pickle: files from anywhere may be opened."""

import json
import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from trailbrake.control.network import NetworkLayer
from trailbrake.errors import DataError, OsErrors, TrailbrakeError, UsageError, describe_os_error
from trailbrake.user_files import open_replacement, open_user_file

SUFFIX = ".npz"
MAX_BYTES = 64 << 20  # unpacked: a small file must not allocate unlimited memory
MAX_LAYERS = 64

Policy = TypeVar("Policy")
Header = dict[str, Any]
Arrays = dict[str, Any]


def read_archive(path: Path, parse: Callable[[Header, Arrays], Policy]) -> Policy:
    """Read a policy.

    Args:
        path: the file.
        parse: makes the policy of the header and the arrays; what it raises makes the file no policy.

    Raises:
        UsageError: there is no such file, or it cannot be read.
        DataError: it is no policy, or a newer one, or damaged.
    """
    try:
        with open_user_file(path, "policy", hint="make one with: trailbrake train") as file:
            found = read_arrays(file, MAX_BYTES, "policy", path)
        return parse(decode_header(found["header"]), found)
    except TrailbrakeError:
        raise
    except OSError as error:
        raise UsageError("cannot read the policy", where=str(path), got=describe_os_error(error)) from error
    # The errors of zip, NumPy and JSON readers have no common base.
    except Exception as error:
        raise DataError("not a policy", where=str(path), expected=f"a {SUFFIX} file of trailbrake train",
                        got=" ".join(str(error).split())[:160] or type(error).__name__) from error  # fmt: skip


def read_arrays(file: BinaryIO, most_bytes: int, what: str, path: Path) -> Arrays:
    """Return the arrays of a .npz file by their names. What the readers of zip and NumPy raise has no common base.

    Args:
        file: open for reading bytes.
        most_bytes: of all arrays, unpacked.
        what: it is, for messages.
        path: of the file, for messages.

    Raises:
        DataError: it unpacks to more than `most_bytes`.
    """
    with zipfile.ZipFile(file) as packed:
        size = sum(entry.file_size for entry in packed.infolist())
    if size > most_bytes:
        raise DataError(f"too large for a {what}", where=str(path), expected=f"{most_bytes} bytes at most",
                        got=str(size))  # fmt: skip
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def decode_header(text: Any) -> Any:
    """Return the value of a JSON text in an array of NumPy; ValueError where it is none.

    Not by `str`: NumPy takes any four bytes for a character, and Python's texts of such are broken, down to a crash.
    """
    if text.dtype.kind != "U" or text.ndim:
        raise ValueError(f"a header of {text.dtype} {text.shape}")
    return json.loads(text.astype(text.dtype.newbyteorder("<")).tobytes().decode("utf-32-le").rstrip("\0"))


def write_archive(path: Path, header: Header, layers: Sequence[NetworkLayer], arrays: Arrays) -> None:
    """Write a policy, whole or not at all. UsageError where it cannot be written.

    Args:
        path: the file; its folder is made.
        header: JSON-able.
        layers: written as "weight0", "bias0", "weight1", ...
        arrays: more arrays, by name.
    """
    content = {"header": np.array(json.dumps(header)), **arrays}
    for number, layer in enumerate(layers):
        content[f"weight{number}"], content[f"bias{number}"] = layer.weight, layer.bias
    with OsErrors("cannot write the policy", where=str(path)):
        write_arrays(path, content)


def write_arrays(path: Path, content: Arrays) -> None:
    """Write arrays as .npz, whole or not at all; OSError where that fails, and the old file stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_replacement(path) as file:
        np.savez(file, **content)
        file.flush()
        os.fsync(file.fileno())


def check_kind(header: Header, kind: str, version: int) -> None:
    """Check that a header is of a kind and version; ValueError where it is not."""
    if header["kind"] != kind:
        raise ValueError(f"a file of another kind: {str(header['kind'])[:40]!r}")
    if header["version"] != version:
        raise ValueError(f"a policy of version {header['version']}, this one reads {version}: upgrade trailbrake")


def parse_layers(arrays: Arrays, strides: Sequence[int]) -> list[NetworkLayer]:
    """Return the layers of a network; ValueError where they are none.

    Args:
        arrays: "weight0", "bias0", ..., float32.
        strides: of each layer.
    """
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
    return layers
