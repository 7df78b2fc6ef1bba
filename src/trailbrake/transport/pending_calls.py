"""Connections that a server has accepted and that have not proved yet to be its client.

A server of one client does not give its place to the first connection: that one may be silent. It holds a few, lets
each show what it is, and takes the first that speaks as a client does. Their number and their time are limited, and the
oldest goes first, so that a client gets through while another program opens connections without end.
"""

from typing import Generic, TypeVar

from trailbrake.transport.tcp import TcpChannel, TcpListener, find_readable

MAX_PENDING = 64  # connections held
HANDSHAKE_S = 5.0  # s that a connection may take until messages can be exchanged
_MAX_ACCEPTS = 32  # connections accepted in one poll: each costs the tick a tenth of a millisecond
_MAX_READY = 8  # connections read in one poll

C = TypeVar("C", bound=TcpChannel)


class PendingCalls(Generic[C]):
    """The connections of `listener` that wait.

    Args:
        listener: open.
        handshake_s: s that a connection may take until it is open.

    Attributes:
        dropped: connections that were hung up on, since too many waited or they took too long.
    """

    def __init__(self, listener: TcpListener[C], handshake_s: float = HANDSHAKE_S) -> None:
        self._listener, self._handshake_s = listener, handshake_s
        self._since: dict[C, float] = {}  # the oldest first
        self.dropped = 0
        self._turn = 0  # of those that have something to read

    @property
    def channels(self) -> list[C]:
        """The connections that wait, the oldest first."""
        return list(self._since)

    def accept_calls(self, now: float) -> list[C]:
        """Accept those that call, and hang up on those that are too many or too slow.

        Args:
            now: s, any steady clock.

        Returns:
            the new ones that are still there.
        """
        accepted: list[C] = []
        called = self._listener.accept()
        while called is not None:
            accepted.append(called)
            self._since[called] = now
            if len(self._since) > MAX_PENDING:
                self._drop(next(iter(self._since)))
            called = self._listener.accept() if len(accepted) < _MAX_ACCEPTS else None
        if self._since:
            for channel, since in list(self._since.items()):
                if channel.is_closed:
                    del self._since[channel]
                elif not channel.is_open and now - since > self._handshake_s:
                    self._drop(channel)
        return [channel for channel in accepted if channel in self._since]

    def find_ready(self) -> list[C]:
        """Return some of those that have something to read; others have their turn at the next call."""
        if not self._since:
            return []
        ready = find_readable(self.channels)
        if len(ready) > _MAX_READY:
            first = self._turn % len(ready)
            self._turn += _MAX_READY
            ready = [*ready[first:], *ready[:first]][:_MAX_READY]
        return ready

    def _drop(self, channel: C) -> None:
        self.dropped += 1
        channel.close()
        del self._since[channel]

    def release(self, channel: C) -> C:
        """Return `channel`, which waits no longer: its new owner polls and closes it."""
        del self._since[channel]
        return channel

    def close(self) -> None:
        """Hang up on all of them; the listener stays open."""
        for channel in self._since:
            channel.close()
        self._since.clear()
