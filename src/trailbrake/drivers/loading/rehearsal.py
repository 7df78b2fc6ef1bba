"""A driver's rehearsal: computing controls without effect while the loop waits for the next sample (decision 18)."""

from typing import Protocol, runtime_checkable

from trailbrake.state import CarState, Controls


@runtime_checkable
class RehearsableDriver(Protocol):
    """A driver whose answer can be computed without a change of the driver, to have its code and data in the caches."""

    def rehearse(self, state: CarState, dt: float) -> Controls:
        """Return what `act` would return, and leave the driver as it is."""
