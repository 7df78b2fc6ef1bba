"""What a training computes on: the processor, or a graphics card."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trailbrake.errors import UsageError
from trailbrake.train.pytorch import import_torch
from trailbrake.train.rl.options import RlOptions
from trailbrake.train.rl.rollout import RolloutSampler

if TYPE_CHECKING:
    from trailbrake.train.rl.cuda_rollout import CudaRolloutSampler

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


def take_device(options: RlOptions, rank: int) -> str:
    """Return `choose_device` for one of several workers on this machine; cards are taken in turn.

    Args:
        options: of the training; "auto" is the processor.
        rank: of the worker, 0 for the first.
    """
    if options.device != "cuda":
        return "cpu"
    device = choose_device(options.device)
    from numba import cuda

    libraries: tuple[Any, Any] = import_torch().cuda, cuda
    card = rank % libraries[0].device_count()
    libraries[0].set_device(card)  # for all that this process does
    libraries[1].select_device(card)
    return device


def build_sampler(options: RlOptions, actor: Any, device: str) -> "RolloutSampler | CudaRolloutSampler":
    """Return a sampler of rollouts by `options.cars` on a device, for an actor that is there too."""
    if device == "cpu":
        return RolloutSampler(options, actor)
    from trailbrake.train.rl.cuda_rollout import CudaRolloutSampler  # loads numba's compiler for cards

    return CudaRolloutSampler(options, actor)
