"""PyTorch, which the extras "train" and "rl" bring, and what it computes on: the processor, or a graphics card."""

from collections.abc import Callable
from typing import Any

from trailbrake.errors import UsageError

_HINT = 'a card of NVIDIA, its driver, PyTorch for CUDA, and pip install "trailbrake[gpu]"; or --device cpu'


def import_torch() -> Any:
    """Return PyTorch; UsageError where it is missing."""
    try:
        import torch
    except ImportError as error:
        raise UsageError("training needs PyTorch", where="trailbrake train", hint='pip install "trailbrake[train]"'
                         " (a build for processors is enough)") from error  # fmt: skip
    return torch


def choose_device(wanted: str, say: Callable[[str], None] = lambda text: None) -> str:
    """Return "cpu" or "cuda", as PyTorch calls them.

    Args:
        wanted: one of `rl.options.DEVICES`.
        say: takes a line for the user: why "auto" is the processor.

    Raises:
        UsageError: a card is wanted and cannot be used; says what is missing.
    """
    if wanted == "cpu":
        return wanted
    try:
        _require_card()
    except UsageError as error:
        if wanted == "auto":
            say(f"on the processor: {error}")
            return "cpu"
        raise
    return "cuda"


def _require_card() -> None:
    torch = import_torch()
    if not torch.cuda.is_available():
        got = "PyTorch finds no card" if torch.version.cuda else "this PyTorch is built for processors"
        raise UsageError("no graphics card to train on", where="--device cuda", got=got, hint=_HINT)
    try:
        from trailbrake.kernels.cuda_compiler import require_cuda

        require_cuda()
    except ImportError as error:
        raise UsageError("no graphics card to train on", where="--device cuda", got=str(error), hint=_HINT) from error


def take_device(wanted: str, rank: int) -> str:
    """Return `choose_device` for one of several workers on this machine; cards are taken in turn.

    Args:
        wanted: one of `rl.options.DEVICES`; "auto" is the processor.
        rank: of the worker, 0 for the first.
    """
    if wanted != "cuda":
        return "cpu"
    device, cuda = choose_device(wanted), import_torch().cuda
    from trailbrake.kernels.cuda_compiler import require_cuda

    card = rank % cuda.device_count()
    cuda.set_device(card)  # for all that this process does
    require_cuda().select_device(card)
    return device
