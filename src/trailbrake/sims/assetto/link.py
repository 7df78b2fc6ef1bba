"""Our end of the Assetto Corsa wire: takes a car of the game, or of a host, and drives it.

Source: protocol page assetto-custom-ai, sections 1 and 4. Life is judged by packet_id advancing and by
nothing else: pages of a dead game read fine for ever.
"""

import math
import os
from collections.abc import Callable
from dataclasses import replace
from itertools import count

from trailbrake.errors import SimulatorError, WireError
from trailbrake.roles import LinkCounters
from trailbrake.sims.assetto import acpmf, codec, convert, spec
from trailbrake.sims.assetto.knobs import RELEASED, UNKNOWN, Knobs, told_by
from trailbrake.sims.assetto.shifter import Shifter
from trailbrake.sims.assetto.watch import Watch, await_session
from trailbrake.state import CarState, Controls, OtherCar, Phase, Pose, SimCommand, settings_of
from trailbrake.transport.shm import Lock, Page, SharedMemory

_RETRIES = 3  # after a torn read
_RECREATE_S = 5.0  # a controls page made too early in the game's life goes unnoticed: make it again (section 4.6)
_RESTART_S = 0.1  # s that a restart is asked for
_TELEPORT_STEPS = 4  # physics steps that a teleport is asked for: a little over 10 ms
_TELEPORT_CHECK = 40  # physics steps after which the car has to be there, else it is asked for again, ...
_TELEPORT_TRIES = 5  # ... so often in all
_TELEPORT_NEAR = 3.0  # m from the place asked for
_OTHERS_STEPS = 5  # physics steps between looks at the other cars: their pages follow the frame rate
_CENSUS_STEPS = 333  # physics steps between counts of the other cars
_TOLD_STEPS = 11  # physics steps between looks at how the settings stand; fewer than `knobs` waits for an effect
_NOTHING_SET = settings_of(Controls())


class Link:
    """Drives a car over shared memory.

    Args:
        options: which car to take, how long `open` waits for it to answer, and who shifts.
        doors: a folder of pages that nobody but ours reaches; they are then mapped, see `trailbrake.transport.shm`.
            None = the public names.
        idle: called by `open` between looks; lets time pass (sleeps, or ticks a host in lockstep) and returns
            the new `now`. Without it `open` does not wait: the phase is LOST until the car answers.

    Attributes:
        counters: what went over the wire.
        foreign_writes: how often somebody else had changed our controls when we came to write the next.
    """

    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS
    period = 1.0 / spec.RATE_HZ

    def __init__(
        self,
        options: spec.LiveOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
        idle: Callable[[], float] | None = None,
    ) -> None:
        options = options or spec.LiveOptions()
        self.counters = LinkCounters()
        self.foreign_writes = 0
        self._memory = SharedMemory(doors)
        self._index, self._wait, self._idle, self._mapped = options.car_index, options.wait, idle, doors is not None
        self._game_shifts = options.shifts == "game"
        self._headlights, self._mguh_mode = options.headlights, options.mguh_mode
        self._watch = Watch(self._memory)
        self._lock: Lock | None = None
        self._controls: Page | None = None
        self._written = self._page = b""
        self._polled = self._data = b""  # copies of the car's page: the last one looked at, and the newest read
        self._untouched: bool | None = None  # whether the page is as written; None: nobody has looked since
        self._rest: tuple[object, ...] = ()  # what `_page` was encoded for
        self._last = Controls(brake=1.0)
        self._shifter = Shifter()
        self._knobs, self._buttons = Knobs(), RELEASED
        self._told, self._told_at = UNKNOWN, -_TOLD_STEPS
        self._car: Page | None = None
        self._packet_id = 0  # newest read
        self._message: codec.SeenCar | None = None  # None until packet_id has been seen to advance
        self._advanced_at: float | None = None  # None = from the next read on
        self._stale = False
        self._others: dict[int, Page] = {}
        self._other_cars: list[OtherCar] = []
        self._others_at = self._census_at = 0
        self._sim_page: Page | None = None
        self._sim = codec.SimState()
        self._restart_at: float | None = None
        self._teleport_to = convert.TELEPORT_NONE
        self._teleport: Pose | None = None
        self._teleport_at = 0
        self._place = (math.nan, math.nan)
        self._target: Pose | None = None  # where the car was put, until it is seen there
        self._tries = 0

    def open(self, now: float) -> None:
        """Wait for the session, take the car (make its controls page, brake on), and wait for packet_id to advance."""
        name = spec.controls_name(self._index)
        self._lock = self._memory.lock(name)
        if self._lock is None:
            raise SimulatorError(
                f"car {self._index} is driven already by another trailbrake",
                where=f"{self._memory.folder}/{name}",
                hint="stop that one, or take another car",
            )
        try:
            if self._idle is not None and not self._mapped:
                now = await_session(self._watch, now, self._wait, self._idle)
            self._advanced_at = now
            self._make_controls()
            if self._idle is not None:
                self._await(now, self._idle)
        except BaseException:
            self.close()
            raise

    def _make_controls(self) -> None:
        self._controls = self._memory.create(spec.controls_name(self._index), mapped=self._mapped)
        self._written = self._encoded(self._last, 0)
        self._controls.write(self._written)

    def _await(self, now: float, idle: Callable[[], float]) -> None:
        deadline, recreate = now + self._wait, now + _RECREATE_S
        while not self.fresh():
            now = idle()
            if now >= deadline:
                why = "is not published" if self._car is None else "stands still: its packet_id does not advance"
                raise SimulatorError(
                    f"car {self._index} {why}",
                    where=f"{self._memory.folder}/{spec.car_name(self._index)}",
                    expected=f"an answer within {self._wait:g} s",
                    hint="start a session with Custom AI switched on, or `trailbrake serve assetto`",
                )
            if now >= recreate and self._controls is not None:
                recreate = now + _RECREATE_S
                self._controls.close(remove=self._controls.created)
                self._make_controls()
        self._advanced_at = now

    def _attached(self) -> Page | None:
        """Return the car's page, opening it once it is there. What it holds then may be long dead."""
        if self._car is None:
            self._car = self._memory.open(spec.car_name(self._index), mapped=self._mapped)
            if self._car is not None and self._message is None:
                self._packet_id = codec.decode_packet_id(self._car.read(codec.PACKET_ID_SIZE))
        return self._car

    def fresh(self) -> bool:
        """Return whether packet_id has moved since the last read()."""
        page = self._attached()
        if page is None:
            return False
        # The whole page takes as long as its first bytes, and is half of what `_copy` needs.
        self._polled = page.read(codec.CAR_SIZE)
        return self._is_new(codec.decode_packet_id(self._polled))

    def _is_new(self, packet_id: int) -> bool:
        return packet_id not in (0, self._packet_id)  # 0 is a page that is made but not yet written

    def read(self, now: float) -> CarState:
        """Return the newest sample. Phase LOST when packet_id has stood for longer than 0.25 s of `now`."""
        if self._advanced_at is None:
            self._advanced_at = now
        if self._sim.restart_session:
            self._pulse_restart(now)
        page = self._attached()
        advanced = page is not None and self._take(page)
        if advanced:
            self._advanced_at = now
        state = CarState() if self._message is None else convert.state_from_seen(self._message)
        state.age = now - self._advanced_at
        self._place = state.x, state.y
        stale = state.age > spec.STALE_S
        if not advanced and (self._sim.pause or (stale and self._paused_by_user())):
            state.phase = Phase.PAUSED
        elif stale or self._message is None:
            state.phase = Phase.LOST
            if stale:
                self._lost()
        self._stale = stale
        if self._message is not None:
            self._look_at_others()
            state.others = self._other_cars
        return state

    def rehearse(self, controls: Controls) -> None:
        """Decode the last sample again, look for strangers, and encode `controls` for nothing."""
        if self._message is not None:
            # Into new memory, as the next one: what it takes is then what this one has given back a moment ago.
            self._message = codec.decode_seen_car(self._data)
        if self._controls is not None:
            if self._untouched is not False:
                self._untouched = self._controls.read(codec.CONTROLS_SIZE) == self._written
            self._encoded(controls, 0)

    def _paused_by_user(self) -> bool:
        graphics = self._watch.graphics()
        return graphics is not None and graphics.status == acpmf.PAUSE

    def _take(self, page: Page) -> bool:
        """Copy and decode the newest sample; return whether there was one, and it was whole enough."""
        data = self._copy(page)
        if not self._is_new(codec.decode_packet_id(data)):
            return False
        try:
            message = codec.decode_seen_car(data)
        except WireError:  # a stranger cut the page short
            self.counters.torn += 1
            return False
        counters, packet_id = self.counters, message[codec.SEEN_PACKET_ID]
        step = packet_id - self._packet_id
        counters.received += 1
        if step < 0:
            counters.resyncs += 1
            self._others_at = self._census_at = packet_id
        elif self._message is not None:
            counters.lost += step - 1
        self._packet_id, self._message, self._data = packet_id, message, data
        return True

    def _copy(self, page: Page) -> bytes:
        """Return a copy of the car's page that was made while nobody wrote to it, else the last one, counted as torn.

        The page has no lock. Comparing the whole rather than packet_id alone also finds a writer between
        packet_id and the rest of it, whichever it stores first; it costs well under 1 us.
        """
        data = self._polled or page.read(codec.CAR_SIZE)
        self._polled = b""
        for _ in range(1 + _RETRIES):
            again = page.read(codec.CAR_SIZE)
            if again == data:
                return data
            data = again
        self.counters.torn += 1
        return data

    def _lost(self) -> None:
        if not self._stale:
            self.counters.stale += 1
        # The other end may have gone and come back with a page of its own.
        if self._car is not None and not self._car.current():
            self._car.close()
            self._car = None

    def _look_at_others(self) -> None:
        step = self._packet_id
        if step - self._census_at >= _CENSUS_STEPS or self._census_at == 0:
            self._census_at = step
            self._count_others()
        if step - self._others_at < _OTHERS_STEPS:
            return
        self._others_at = step
        cars = []
        for index, page in self._others.items():
            data = page.read(codec.PUBLIC_SIZE)
            again = page.read(codec.PUBLIC_SIZE)
            if again != data:
                again = page.read(codec.PUBLIC_SIZE)
            if len(again) == codec.PUBLIC_SIZE and codec.decode_packet_id(again) != 0:
                cars.append(convert.other_from_wire(index, codec.decode_public(again)))
        self._other_cars = cars  # a new list: states that were given the old one keep it

    def _count_others(self) -> None:
        """Open the public pages of the other cars; cars are numbered without gaps."""
        for index in count():
            page = self._others.get(index)
            if page is not None:
                if page.current():
                    continue
                self._others.pop(index).close()
            if index == self._index:
                if not self._memory.exists(spec.public_name(index)):
                    return
                continue
            page = self._memory.open(spec.public_name(index), mapped=self._mapped)
            if page is None:
                return
            self._others[index] = page

    def write(self, controls: Controls) -> None:
        """Send `controls`; a gear wish becomes paddle presses, or is left to the game's own box.

        Wishes for the settings become presses of their buttons.
        """
        if self._game_shifts and controls.gear is not None:
            controls = replace(controls, gear=None)
        gear = None if self._message is None else self._message[codec.SEEN_GEAR] - convert.NEUTRAL
        shift = self._shifter.paddle(controls.gear, gear, self._packet_id)
        # A step back is a restart at the other end: the teleport was done there, or is moot.
        if self._teleport_to and not 0 <= self._packet_id - self._teleport_at < _TELEPORT_STEPS:
            self._teleport_to, self._teleport = convert.TELEPORT_NONE, None
        if self._target is not None and self._packet_id - self._teleport_at >= _TELEPORT_CHECK:
            self._check_teleport(self._target)
        settings = settings_of(controls)
        if self._sim.restart_session:  # the car will come back as its own, and presses before that are lost
            self._knobs, self._buttons = Knobs(), RELEASED
        elif settings != _NOTHING_SET or self._knobs.turned:
            self._buttons = self._knobs.press(settings, self._how_they_stand(), self._packet_id)
        self._last = controls
        self._send(controls, shift)

    def _how_they_stand(self) -> tuple[float, ...]:
        """Return how the car's settings stand, as far as the game tells, which it does of the player's car."""
        if self._index == 0 and not 0 <= self._packet_id - self._told_at < _TOLD_STEPS:
            self._told_at = self._packet_id
            physics, static = self._watch.physics(), self._watch.static()
            self._told = UNKNOWN if physics is None or static is None else told_by(physics, static)
        return self._told

    def _check_teleport(self, target: Pose) -> None:
        """Ask again where the car is not near the place that it was asked to: it happens (section 4.4)."""
        x, y = self._place
        if math.hypot(x - target.x, y - target.y) < _TELEPORT_NEAR or self._tries >= _TELEPORT_TRIES:
            self._target = None
            return
        self._ask_teleport(target)

    def _ask_teleport(self, target: Pose | None) -> None:
        self._teleport = target
        self._teleport_to = convert.TELEPORT_PITS if target is None else convert.TELEPORT_POSE
        self._teleport_at = self._packet_id
        self._tries += 1

    def _send(self, controls: Controls, shift: int) -> None:
        if self._controls is None:
            raise SimulatorError("the link is not open", where=spec.controls_name(self._index))
        if self._untouched is None:
            self._untouched = self._controls.read(codec.CONTROLS_SIZE) == self._written
        if not self._untouched:
            self.foreign_writes += 1
        self._untouched = None
        self._written = self._encoded(controls, shift)
        self._controls.write(self._written)

    def _encoded(self, controls: Controls, shift: int) -> bytes:
        # Behind the axes a page is the same for thousands of ticks: it is kept, and a tick encodes the axes alone.
        rest = controls.clutch <= 0.0, controls.gear is None, self._buttons, self._teleport_to, self._teleport
        if rest != self._rest:
            message = convert.controls_to_wire(
                controls, buttons=self._buttons, mguh_mode=self._mguh_mode, headlights=self._headlights,
                teleport_to=self._teleport_to, teleport=self._teleport,
            )  # fmt: skip
            self._rest, self._page = rest, codec.encode_controls(message)
        return codec.encode_driving(convert.driving_to_wire(controls, shift), self._page)

    def command(self, command: SimCommand) -> None:
        """Ask for a pause, a restart, collisions, a time scale (SimState v1), a teleport or a return to the pits."""
        sim = self._sim
        if command.pause is not None:
            if sim.pause and not command.pause:
                self._advanced_at = None  # the pause was no silence
            sim = sim._replace(pause=int(command.pause))
        if command.restart:
            sim = sim._replace(restart_session=1)
            self._restart_at = None
        if command.collisions is not None:
            sim = sim._replace(disable_collisions=int(not command.collisions))
        if command.time_scale is not None:
            sim = sim._replace(time_scale=command.time_scale)
        if sim != self._sim:
            self._send_sim(sim)
        if command.teleport is not None or command.to_pits:
            self._target, self._tries = command.teleport, 0
            self._ask_teleport(command.teleport)
            self._send(self._last, 0)

    def _send_sim(self, sim: codec.SimState) -> None:
        self._sim = sim
        if self._sim_page is None:
            # Made on the first request only: a page of zeros would ask for a time scale of 0.
            self._sim_page = self._memory.create(spec.SIM_STATE_V1, mapped=self._mapped)
        self._sim_page.write(codec.encode_sim_v1(sim))

    def _pulse_restart(self, now: float) -> None:
        if self._restart_at is None:
            self._restart_at = now
        elif now - self._restart_at >= _RESTART_S:
            self._send_sim(self._sim._replace(restart_session=0))

    def release(self) -> None:
        """Leave the brake on and the throttle shut, and the session running at its own pace."""
        self._teleport_to, self._teleport, self._target = convert.TELEPORT_NONE, None, None
        self._last, self._buttons = Controls(brake=1.0), RELEASED
        if self._controls is not None:
            self._send(self._last, 0)
        if self._sim_page is not None:
            self._send_sim(codec.SimState())

    def close(self) -> None:
        """Give the car back, and remove the pages that we made."""
        self.release()
        if self._controls is not None:
            # A page that we found was left behind by a killed client, unless somebody else writes to it.
            self._controls.close(remove=self._controls.created or not self.foreign_writes)
        if self._sim_page is not None:
            self._sim_page.close(remove=self._sim_page.created)
        for page in (self._car, *self._others.values()):
            if page is not None:
                page.close()
        self._watch.close()
        if self._lock is not None:
            self._lock.close()
        self._controls = self._sim_page = self._car = self._lock = None
        self._others = {}
