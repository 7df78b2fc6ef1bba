"""`LearnerGroup`: learners in several processes that average their arrays, by PyTorch's Gloo over TCP.

Gloo encrypts nothing and asks for no password: all sockets listen on the address that is given alone, 127.0.0.1 on one
machine; on a cluster keep them in a private network, as Ray's own.
"""

import socket
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.train.pytorch import import_torch

TIMEOUT_S = 300.0  # s after which a learner that does not answer is given up; the first time it may compile


class GroupBrokenError(Exception):
    """Another learner is gone, or the network between them."""


class LearnerGroup:
    """A learner's place in its group. Call `open_store` in the first one and `join` in all, at the same time.

    Args:
        rank: of this learner, 0 for the first.
        count: of learners.
    """

    def __init__(self, rank: int, count: int) -> None:
        self.rank, self.count = rank, count
        self._torch = import_torch()
        self._timeout = timedelta(seconds=TIMEOUT_S)
        self._store: Any = None
        self._group: Any = None

    def open_store(self, host: str) -> int:
        """Open the place where the learners find each other, on an address of this machine; return its port.

        Raises:
            GroupBrokenError: it cannot be opened.
        """
        try:
            listening = socket.create_server((host, 0))  # by itself the store would listen on all addresses
            port = int(listening.getsockname()[1])
            self._store = self._torch.distributed.TCPStore(
                host, port, None, True, self._timeout, wait_for_workers=False, master_listen_fd=listening.detach()
            )
        except (OSError, RuntimeError) as error:
            raise GroupBrokenError(_first_line(error)) from error
        return port

    def join(self, store: tuple[str, int], host: str) -> None:
        """Connect to all others.

        Args:
            store: address and port that `open_store` has in the first learner.
            host: address of this machine that the others reach.

        Raises:
            GroupBrokenError: they did not all come.
        """
        distributed = self._torch.distributed
        gloo = distributed.ProcessGroupGloo
        try:
            if self._store is None:
                self._store = distributed.TCPStore(*store, None, False, self._timeout, wait_for_workers=False)
            options = gloo._Options()  # the only way to the address: without it Gloo takes that of the host's name
            options._timeout = self._timeout
            options._devices = [gloo.create_device(hostname=host)]
            self._group = gloo(self._store, self.rank, self.count, options)
        except RuntimeError as error:
            raise GroupBrokenError(_first_line(error)) from error

    def average(self, values: NDArray[np.float64]) -> None:
        """Replace an array in place by its mean over all learners, the same to the bit in each.

        Raises:
            GroupBrokenError: another learner is gone.
        """
        try:
            self._group.allreduce([self._torch.from_numpy(values)]).wait()
        except RuntimeError as error:
            raise GroupBrokenError(_first_line(error)) from error
        values /= self.count


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
