"""`SupervisedCar`: a car that is stepped, and cannot be sent what no car may get.

In the embedded world, in lockstep, the link is in this process: time stands still between steps, so nothing has to be
braked, and controls are kept within their ranges. In real time another process has the link (`keeper`): it checks
samples, limits controls, and brakes while the simulator is silent or the program does not step.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from trailbrake.driving.loop.drive_loop import LOST_LIMIT
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import DriveSetup
from trailbrake.driving.session.open_connection import open_connection
from trailbrake.driving.supervised.control_check import limit_range
from trailbrake.driving.supervised.kept_car import keep_car_elsewhere
from trailbrake.errors import SimulatorError
from trailbrake.json_types import JsonObject
from trailbrake.roles import CustomChannels, LinkCounters, Plant
from trailbrake.state import CarState, Controls, SimCommand


class SupervisedCar(Protocol):
    """A car that a program drives, state by state.

    Attributes:
        state: the newest state.
        period: s of simulator time between states.
        accepts: names of CONTROL_FIELDS and COMMAND_FIELDS that its link accepts.
        counters: of its link.
        custom: free values of the newest message.
        custom_room: how many free values an answer takes.
        pace: how the simulator's pace is kept; None where the program does not set it.
        plant: the embedded world, where it is in this process.
    """

    state: CarState
    plant: Plant | None

    @property
    def period(self) -> float: ...  # noqa: D102 - above
    @property
    def accepts(self) -> frozenset[str]: ...  # noqa: D102
    @property
    def counters(self) -> LinkCounters: ...  # noqa: D102
    @property
    def custom(self) -> tuple[float, ...]: ...  # noqa: D102
    @property
    def custom_room(self) -> int: ...  # noqa: D102
    @property
    def pace(self) -> JsonObject | None: ...  # noqa: D102

    def write(self, controls: Controls, *, repeats: bool = False) -> None:
        """Answer the newest state; UsageError where a value is no number.

        Args:
            controls: what the car shall do.
            repeats: whether they are those of an earlier state: then they say nothing about the program's pace.
        """

    def set_custom_values(self, values: tuple[float, ...]) -> None:
        """Send these free values with every answer from the next one on."""

    def send_command(self, command: SimCommand) -> None:
        """Request something beside driving; it has been checked."""

    def wait_for_state(self) -> CarState:
        """Wait for the next state and return it; SimulatorError if none will come."""


class EmbeddedCar:
    """A car of an embedded world in lockstep.

    Args:
        connection: open.
    """

    pace: JsonObject | None = None

    def __init__(self, connection: Connection) -> None:
        self._link, self._pacer = connection.link, connection.pacer
        self._channels = self._link if isinstance(self._link, CustomChannels) else None
        self.plant = connection.plant
        self.state = CarState()
        self.accepts = self._link.ACCEPTS
        self.custom_room = 0 if self._channels is None else len(self._channels.custom_out)

    @property
    def period(self) -> float:
        """S of simulator time between states."""
        return self._link.period

    @property
    def counters(self) -> LinkCounters:
        """Of the link."""
        return self._link.counters

    @property
    def custom(self) -> tuple[float, ...]:
        """Free values of the newest message."""
        return () if self._channels is None else tuple(self._channels.custom)

    def write(self, controls: Controls, *, repeats: bool = False) -> None:
        """Answer the newest state.

        Args:
            controls: what the car shall do.
            repeats: of no effect here.

        Raises:
            UsageError: a value is no number.
        """
        self._link.write(limit_range(controls))

    def set_custom_values(self, values: tuple[float, ...]) -> None:
        """Send these free values with every answer from the next one on; those behind them are 0."""
        if self._channels is not None:
            self._channels.custom_out = values

    def send_command(self, command: SimCommand) -> None:
        """Request something beside driving; it has been checked."""
        self._link.send_command(command)

    def wait_for_state(self) -> CarState:
        """Step the world to the next state and return it.

        Raises:
            SimulatorError: the world makes no state.
        """
        link, pacer, last = self._link, self._pacer, self.state.sequence
        began = now = pacer.wait_for_sample(link)
        while now - began <= LOST_LIMIT:
            if link.has_new_sample():
                state = link.read(now)
                if state.sequence != last:
                    self.state = state
                    return state
            now = pacer.wait_for_sample(link)
        raise SimulatorError(f"the simulator went silent for {LOST_LIMIT:g} s", where="step")


@contextmanager
def open_car(setup: DriveSetup, *, brakes_at_end: bool = True) -> Iterator[SupervisedCar]:
    """Open a car for a program; on leaving, give it back.

    Args:
        setup: which simulator, embedded or live.
        brakes_at_end: whether the car of a live simulator is stopped before; the embedded world ends with its program.

    Raises:
        TrailbrakeError: the car cannot be opened.
    """
    spec = setup.spec
    if spec.is_real_time:
        with keep_car_elsewhere(spec, brakes_at_end=brakes_at_end and spec.is_live) as kept:
            yield kept
    else:
        with open_connection(setup, lambda: False) as connection:
            yield EmbeddedCar(connection)
