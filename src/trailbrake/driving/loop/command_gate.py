"""`CommandGate`: passes a driver's requests beside driving on to the link, and stops those that must not be sent."""

from collections.abc import Callable

from trailbrake.roles import Link
from trailbrake.state import SimCommand
from trailbrake.state.commands import find_command_problem, requested_fields


class CommandGate:
    """Sends the commands of one car's driver. One that must not be sent is left out; the car drives on.

    Args:
        link: of the car.
        declared: names of COMMAND_FIELDS that the driver declares.
        say: takes a line, once for each reason, when a command is left out.
        custom: how many free values the driver declares.
        optional: further names, of commands that are left out without a line where the link does not accept them.

    Attributes:
        sent: how many commands went to the link.
        refused: how many were left out.
    """

    def __init__(
        self,
        link: Link,
        declared: frozenset[str],
        say: Callable[[str], None],
        *,
        custom: int = 0,
        optional: frozenset[str] = frozenset(),
    ) -> None:
        self.sent = self.refused = 0
        self._link, self._accepted, self._say = link, (declared | optional) & link.ACCEPTS, say
        self._left_out = optional - link.ACCEPTS
        self._said: set[str] = set()
        self._custom = custom

    def send(self, command: SimCommand) -> bool:
        """Send a command, or say why not; return whether it was sent."""
        if isinstance(command, SimCommand):
            if self._left_out and self._left_out.intersection(requested_fields(command)):
                return False
            problem = find_command_problem(command, self._accepted)
        else:  # the driver is code of others
            problem = f"expected a SimCommand, got {type(command).__name__}"
        if not problem:
            self.sent += 1
            self._link.send_command(command)
            return True
        self.refused += 1
        self._say_once(problem.split(", got")[0], f"a command of the driver was not sent: {problem}")
        return False

    def limit_custom(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """Return the free values that may be sent: as many as the driver declares."""
        if len(values) > self._custom:
            self._say_once("custom", f"free values of the driver were not sent: expected up to CUSTOM = {self._custom},"
                                     f" got {len(values)}")  # fmt: skip
        return values[: self._custom]

    def _say_once(self, reason: str, text: str) -> None:
        if reason not in self._said:
            self._said.add(reason)
            self._say(text)
