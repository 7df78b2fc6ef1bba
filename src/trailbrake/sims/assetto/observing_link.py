"""A link that only watches: the player's car by the game's standard pages, driven by a person or another program.

Source: protocol page assetto-custom-ai, section 6. It takes no car and needs no Custom AI.
"""

import math
from collections import deque

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.planning.course import Course
from trailbrake.roles import LinkCounters
from trailbrake.sims.assetto import spec
from trailbrake.sims.assetto.draw import PlanDrawing
from trailbrake.sims.assetto.link import Link
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.classic_reader import await_session, session_text, status_text
from trailbrake.sims.assetto.wire.player_sampler import PLAYER, PlayerSampler
from trailbrake.simulator_tools import Doors, Idle
from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.transport.shm import SharedMemory

_MOST_EVENTS = 100  # kept


class ObservingLink:
    """Reads the player's car and sends nothing.

    Args:
        options: how long `open` waits for a session.
        doors: folder of the pages; None = the public names.
        idle: lets time pass while `open` waits and returns the new `now`.

    Attributes:
        counters: of samples.
        session_events: changes of the session, as lines for the user; the reader removes them.
        last_lap_time: s of the lap that ended at the newest sample, NaN without one; whether it counts is not shown.
    """

    SUPPLIES = spec.OBSERVED
    ACCEPTS: frozenset[str] = frozenset()
    period = 1.0 / spec.RATE_HZ

    def __init__(self, options: spec.LiveOptions, *, doors: Doors = None, idle: Idle | None = None) -> None:
        if options.car_index != PLAYER:
            raise UsageError("the game's standard pages show car 0 alone", where=f"--car-index {options.car_index}",
                             expected=str(PLAYER))  # fmt: skip
        self.counters = LinkCounters()
        self._options, self._idle = options, idle
        memory = SharedMemory(doors)
        self._folder = memory.folder
        self._sampler = PlayerSampler(memory, self.counters)
        self.session_events: deque[str] = deque(maxlen=_MOST_EVENTS)
        self.last_lap_time = math.nan
        self._status = self._session = -2  # none
        self._completed_laps, self._limiter = 0, math.nan

    def make_drawing(self, course: Course) -> PlanDrawing | None:
        """Return what draws the plan in the game; None where the options want no drawing."""
        return PlanDrawing(course) if self._options.draw else None

    def open(self, now: float) -> None:
        """Wait for a session that runs."""
        if self._idle is None:
            return
        deadline = now + self._options.wait
        now = await_session(self._sampler.reader, now, self._options.wait, self._idle)
        while not self.has_new_sample():
            if now >= deadline:
                raise SimulatorError("no game writes its standard pages", where=f"{self._folder}/{acpmf.PHYSICS_NAME}",
                                     expected=f"a session within {self._options.wait:g} s",
                                     hint="start the game and a session, or `trailbrake serve assetto`")  # fmt: skip
            now = self._idle()

    def has_new_sample(self) -> bool:
        """Return whether packet_id has moved since the last `read`."""
        return self._sampler.has_new_sample()

    def read(self, now: float) -> CarState:
        """Return the newest sample."""
        received, resyncs = self.counters.received, self.counters.resyncs
        state = self._sampler.read_state(now)
        if self.counters.resyncs != resyncs or not received:
            self._limiter = self._sampler.reader.read_limiter()
        state.max_engine_speed = self._limiter
        if self.counters.resyncs != resyncs:
            self.session_events.append("the session began anew")
        if self.counters.received != received and self._sampler.graphics is not None:
            self._follow_session(self._sampler.graphics)
        return state

    def _follow_session(self, graphics: acpmf.Graphics) -> None:
        if (graphics.status, graphics.session) != (self._status, self._session):
            self._status, self._session = graphics.status, graphics.session
            self.session_events.append(f"{status_text(graphics.status)}, {session_text(graphics.session)}")
        before, self._completed_laps = self._completed_laps, graphics.completed_laps
        has_ended = graphics.completed_laps > before and graphics.i_last_time > 0
        self.last_lap_time = graphics.i_last_time * 1e-3 if has_ended else math.nan

    def write(self, controls: Controls) -> None:
        """Send nothing."""

    def send_command(self, command: SimCommand) -> None:
        """Send nothing."""

    def release(self) -> None:
        """There is nothing to release."""

    def close(self) -> None:
        """Close the pages."""
        self._sampler.close()


def make_link(options: spec.LiveOptions, *, doors: Doors = None, idle: Idle | None = None) -> Link | ObservingLink:
    """Return a link that takes a car, or one that watches the player's where the options say so."""
    return Link(options, doors=doors, idle=idle) if options.take else ObservingLink(options, doors=doors, idle=idle)
