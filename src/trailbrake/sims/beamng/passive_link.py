"""A link that only watches: it answers each message without a change of any control, so that others drive the car.

Source: protocol page beamng-coupling, section 4: NaN leaves a control as it is. The simulator waits for an answer to
each message, so that a listener that sends nothing would stop it. The car stays with the player or the game's AI; the
coupling serves one program, so that no other controller can drive at the same time.
"""

from trailbrake.errors import UsageError
from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.codec import NO_CHANGE_COMMAND, encode_command
from trailbrake.sims.beamng.link import Link
from trailbrake.simulator_tools import Doors, Idle
from trailbrake.state import CarState, Controls


class PassiveLink(Link):
    """Reads the car of a player or of the game's AI. `read` answers the message that it returns.

    Args:
        options: addresses and timing.
        doors: rendezvous folder in which both ends publish their ports; None = the ports in the options.
        idle: lets time pass while `open` waits and returns the new `now`.

    Raises:
        UsageError: generation 2, whose commands have no value that leaves a control as it is.
    """

    ACCEPTS: frozenset[str] = frozenset()

    def __init__(self, options: spec.LiveOptions, *, doors: Doors = None, idle: Idle | None = None) -> None:
        if options.generation != 1:
            raise UsageError("a contract's answers always set its controls, so its car cannot be watched",
                             where="--contract", hint="drive with --watch")  # fmt: skip
        super().__init__(options, doors=doors, idle=idle)

    def read(self, now: float) -> CarState:
        """Return the newest state, and answer its message; the phase is LOST after 0.25 s without one."""
        is_new = self.has_new_sample()
        state = super().read(now)
        if is_new:
            super().write(Controls())
        return state

    def _encode_reply(self, reply_id: float) -> bytes:
        return encode_command(NO_CHANGE_COMMAND._replace(message_id=reply_id))

    def write(self, controls: Controls) -> None:
        """Send nothing: `read` has answered."""

    def release(self) -> None:
        """There is nothing to release: the last answer has changed no control."""


def make_link(options: spec.LiveOptions, *, doors: Doors = None, idle: Idle | None = None) -> Link | PassiveLink:
    """Return a link that drives, or one that watches where the options say so."""
    return Link(options, doors=doors, idle=idle) if options.take else PassiveLink(options, doors=doors, idle=idle)
