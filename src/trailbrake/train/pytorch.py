"""Imports PyTorch, which the extras "train" and "rl" bring."""

from typing import Any

from trailbrake.errors import UsageError


def import_torch() -> Any:
    """Return PyTorch; UsageError where it is missing."""
    try:
        import torch
    except ImportError as error:
        raise UsageError("training needs PyTorch", where="trailbrake train", hint='pip install "trailbrake[train]"'
                         " (a build for processors is enough)") from error  # fmt: skip
    return torch
