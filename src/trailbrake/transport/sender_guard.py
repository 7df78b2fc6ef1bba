"""Which of several senders a UDP socket listens to: the first one, until it has been silent for a while.

A port is open to every program that can reach it, and a datagram has no signature. A link therefore holds on to the
first sender whose datagrams it can read; those of others are foreign, and are counted. When the held sender has been
silent, the next readable datagram of any sender takes its place: that is how a restarted simulator, which sends from
another port, is found.
"""

from collections.abc import Callable

from trailbrake.transport.client_notices import print_to_stderr

SILENCE_S = 0.5  # s without a datagram of the held sender after which another may take its place


class SenderGuard:
    """Holds one sender.

    Times are s of any steady clock. Time without a look at the socket is no silence: after a program has hung
    for longer than `SILENCE_S`, the held sender's datagrams may wait behind those of others.

    Args:
        name: of the simulator, in front of the line about a second sender.
        say: prints that line, once.

    Attributes:
        sender: the held sender; None before the first.
        heard_at: time of its newest datagram.
        foreign: number of datagrams of other senders while the held one was not silent.
    """

    __slots__ = ("_has_said", "_name", "_observed_at", "_say", "foreign", "heard_at", "sender")

    def __init__(self, name: str, say: Callable[[str], None] = print_to_stderr) -> None:
        self.sender: object = None
        self.foreign = 0
        self._name, self._say, self._has_said = name, say, False
        self.heard_at = self._observed_at = 0.0

    def observe(self, now: float) -> None:
        """Note that the socket is looked at."""
        if not 0.0 <= now - self._observed_at <= SILENCE_S:
            self.heard_at = now
        self._observed_at = now

    def admit(self, sender: object, now: float) -> bool:
        """Return whether a datagram of `sender` may be read; count and report those that may not."""
        self.observe(now)
        if sender == self.sender or self.sender is None or now - self.heard_at > SILENCE_S:
            return True
        self.foreign += 1
        if not self._has_said:
            self._has_said = True
            self._say(
                f"{self._name}: datagrams of a second sender, {describe_sender(sender)}, are ignored while "
                f"{describe_sender(self.sender)} sends: does a second simulator run?"
            )
        return False

    def hold(self, sender: object, now: float) -> None:
        """Hold `sender`, whose admitted datagram could be read."""
        self.sender = sender
        self.heard_at = self._observed_at = now


def describe_sender(sender: object) -> str:
    """Return HOST:PORT of an address; any other sender as text."""
    return f"{sender[0]}:{sender[1]}" if isinstance(sender, tuple) else str(sender)
