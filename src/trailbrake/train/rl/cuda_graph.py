"""`RecordedCall`: many launches on a graphics card, recorded once and repeated as one: a CUDA graph.

A launch costs the host 5 to 50 microseconds, which for small networks and a few thousand cars is more than the card
needs for the work.
"""

import warnings
from collections.abc import Callable
from typing import Any

from trailbrake.train.pytorch import import_torch

WARM_UPS = 2  # calls before the recorded one: libraries choose their kernels and take their memory
RECORDS = True  # False: all calls are made one by one, for a debugger


class RecordedCall:
    """Calls a function; its third call records what it launches on a card, and later ones repeat that.

    The function must read and write the same memory in each call, take no decision by what it reads, and not wait for
    the card. Its result is that of the recorded call: memory that each call overwrites.

    Args:
        function: without arguments.
        records: False: each call is a plain one, as it must be on the processor.
    """

    def __init__(self, function: Callable[[], Any], *, records: bool) -> None:
        self._function, self._is_plain = function, not (records and RECORDS)
        self._calls = 0
        self._stream: Any = None
        self._graph: Any = None
        self._result: Any = None

    def __call__(self) -> Any:
        """Make the call; returns before the card is done."""
        if self._is_plain:
            return self._function()
        if self._graph is None:
            if self._calls < WARM_UPS:
                self._calls += 1
                return self._call_beside()
            self._record_call()
        self._graph.replay()
        return self._result

    def _call_beside(self) -> Any:
        # On a stream of its own, as PyTorch wants it before a recording; in order with the default one.
        from trailbrake.world.cuda_kernels import launch_on

        torch = import_torch()
        self._stream = self._stream or torch.cuda.Stream()
        self._stream.wait_stream(torch.cuda.current_stream())
        with warnings.catch_warnings(), torch.cuda.stream(self._stream), launch_on(self._stream.cuda_stream):
            warnings.simplefilter("ignore")  # optimisers that can be recorded warn of calls that are not
            result = self._function()
        torch.cuda.current_stream().wait_stream(self._stream)
        return result

    def _record_call(self) -> None:
        from trailbrake.world.cuda_kernels import launch_on

        torch = import_torch()
        graph = torch.cuda.CUDAGraph()
        # Relaxed: numba may free memory meanwhile, which has nothing to do with what is recorded.
        with (
            torch.cuda.graph(graph, stream=self._stream, capture_error_mode="relaxed"),
            launch_on(self._stream.cuda_stream),
        ):
            self._result = self._function()
        self._graph = graph
