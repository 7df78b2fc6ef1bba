"""Rehearses a tick while the loop waits for the next sample: the real one then finds code and data in the caches.

A rehearsal reads the last sample again and computes controls, but sends nothing; decision 18 has the figures.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from trailbrake.drivers.loading.check import RehearsableDriver
from trailbrake.driving.loop.driver_watchdog import DriverWatchdog
from trailbrake.driving.loop.supervisor import Supervisor, decide_controls
from trailbrake.roles import Driver, Link
from trailbrake.state import CarState, Controls


@runtime_checkable
class RehearsableLink(Protocol):
    """A link that can go through a write without effect."""

    def rehearse(self, controls: Controls) -> None:
        """Decode the last sample again and encode `controls`, without sending; prepare the next write."""


class TickRehearsal:
    """The rehearsals of one car.

    Args:
        link: an open link.
        driver: a driver that is not rehearsable is left out.
    """

    def __init__(self, link: Link, driver: Driver) -> None:
        self._link = link if isinstance(link, RehearsableLink) else None
        self._compute: Callable[[CarState, float], Controls] | None = (
            driver.rehearse if isinstance(driver, RehearsableDriver) else None
        )
        # Of its own: a driver that fails in a rehearsal is not rehearsed again, and its drive goes on.
        self._supervisor = Supervisor()

    def attach_watchdog(self, watchdog: DriverWatchdog, supervisor: Supervisor) -> None:
        """Have the driver's rehearsal watched; `supervisor` is that of its car."""
        if self._compute is not None:
            self._compute = watchdog.watch_driver(self._compute, supervisor)

    @property
    def enabled(self) -> bool:
        """Whether the link can rehearse."""
        return self._link is not None

    def rehearse(self, state: CarState, last_sent: Controls, period: float) -> None:
        """Go through a tick without effect.

        Args:
            state: the newest state, which has been answered.
            last_sent: the controls sent last, for a driver that cannot rehearse.
            period: s of simulator time between samples.
        """
        assert self._link is not None
        if self._compute is None:
            controls = self._supervisor.limit_controls(last_sent, period)
        else:
            controls = decide_controls(self._compute, self._supervisor, state, period)
        self._link.rehearse(controls)
