"""`RequestPacer`: carries out what people request during a drive, in the drive's own thread."""

from collections.abc import Callable

from trailbrake.driving.loop.drive_loop import SamplePacer
from trailbrake.roles import Link


class RequestPacer:
    """A SamplePacer that carries out requests before each wait: also while the simulator is paused and no tick comes.

    Args:
        pacer: makes samples come.
        execute_requests: carries out what is waiting; quick where nothing is.
    """

    def __init__(self, pacer: SamplePacer, execute_requests: Callable[[], None]) -> None:
        self._pacer, self._execute_requests = pacer, execute_requests

    def wait_for_sample(self, link: Link, rehearse: Callable[[], bool] | None = None) -> float:
        """Carry out the requests, then wait for the next sample."""
        self._execute_requests()
        return self._pacer.wait_for_sample(link, rehearse)

    def end_reason(self) -> str:
        """Return why no sample will come any more, "" while one may."""
        return self._pacer.end_reason()
