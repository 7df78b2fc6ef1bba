"""Chooses what a training computes on: the processor, or a graphics card."""

from collections.abc import Callable

from trailbrake.errors import UsageError
from trailbrake.train.pytorch import import_torch

_HINT = 'a card of NVIDIA, its driver, PyTorch for CUDA, and pip install "trailbrake[gpu]"; or --device cpu'


def choose_device(wanted: str, say: Callable[[str], None] = lambda text: None) -> str:
    """Return "cpu" or "cuda", as PyTorch calls them.

    Args:
        wanted: one of `options.DEVICES`.
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
