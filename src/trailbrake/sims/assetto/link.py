"""Our end of the Assetto Corsa wire: takes a car of the game, or of a host, and drives it.

Source: protocol page assetto-custom-ai, sections 1 and 4. Only an advancing packet_id shows that the game runs: pages
of a dead game remain readable.

A link that only watches: the player's car by the game's standard pages, driven by a person or another program.

Source: protocol page assetto-custom-ai, section 6. It takes no car and needs no Custom AI.

The settings of our car (brake bias, levels of the aids): from a driver's targets to buttons on the controls page.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.planning.course import Course
from trailbrake.roles import LastResort, LinkCounters
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.draw import DebugLinesWriter, PlanDrawing, encode_line
from trailbrake.sims.assetto.install.lane_conversion import GroundHeight, find_ground_height
from trailbrake.sims.assetto.signals import PageSignalReader
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.car_claim import CarClaim
from trailbrake.sims.assetto.wire.car_sampler import CarSampler
from trailbrake.sims.assetto.wire.classic_reader import ClassicPageReader, await_session, session_text, status_text
from trailbrake.sims.assetto.wire.controls_encoder import ControlsEncoder, PaddleShifter, Teleporter
from trailbrake.sims.assetto.wire.player_sampler import PLAYER, OtherCarReader, PlayerSampler
from trailbrake.sims.assetto.wire.setting_buttons import ALL_RELEASED, UNKNOWN_LEVELS, ButtonPresser, levels_from_pages
from trailbrake.sims.assetto.wire.sim_state_writer import SimStateWriter
from trailbrake.simulator_tools import Doors, Idle
from trailbrake.state import CarState, Controls, Phase, Signal, SimCommand, settings_of
from trailbrake.state.commands import MAX_EXTRA_SLEEP, MAX_TIME_SCALE, MIN_TIME_SCALE
from trailbrake.transport.shm import SharedMemory

_READ_STEPS = 11  # physics steps between reads of the levels; fewer than `setting_buttons` waits for an effect
_NO_TARGETS = settings_of(Controls())
_RECREATE_S = 5.0  # the game ignores a controls page that was made too early in its life: make it again (section 4.6)
_MOST_EVENTS = 100  # kept


class CarSettings:
    """Chooses the buttons of one car.

    Args:
        reader: of the classic pages, which report the levels of the player's car.
        index: number of the car.

    Attributes:
        buttons: to hold now.
    """

    def __init__(self, reader: ClassicPageReader, index: int) -> None:
        self._reader, self._is_player = reader, index == PLAYER
        self._presser = ButtonPresser()
        self.buttons = ALL_RELEASED
        self._levels, self._read_at = UNKNOWN_LEVELS, -_READ_STEPS

    def update_buttons(self, controls: Controls, step: int, *, restarting: bool) -> None:
        """Choose the buttons to hold at physics step `step`.

        Args:
            controls: with the targets of the settings; NaN for the car's own.
            step: physics step.
            restarting: whether a restart is requested. The car comes back with its own settings, and presses before
                that are lost.
        """
        if restarting:
            self._presser, self.buttons = ButtonPresser(), ALL_RELEASED
            return
        targets = settings_of(controls)
        if targets != _NO_TARGETS or self._presser.is_changed:
            self.buttons = self._presser.choose_buttons(targets, self._read_levels(step), step)

    def release_buttons(self) -> None:
        """Hold no button until the next `update_buttons`."""
        self.buttons = ALL_RELEASED

    def _read_levels(self, step: int) -> tuple[float, ...]:
        """Return the levels that the game reports, NaN where it reports none."""
        if self._is_player and not 0 <= step - self._read_at < _READ_STEPS:
            self._read_at = step
            physics, static = self._reader.read_physics(), self._reader.read_static()
            self._levels = UNKNOWN_LEVELS if physics is None or static is None else levels_from_pages(physics, static)
        return self._levels


class Link:
    """Drives a car over shared memory.

    Args:
        options: which car to take, how long `open` waits for its first sample, and who shifts.
        doors: a private folder of pages, which are then mapped, see `trailbrake.transport.shm`. None = the public
            names.
        idle: called by `open` while it waits; lets time pass (sleeps, or ticks a host in lockstep) and returns the new
            `now`. Without it `open` does not wait: the phase is LOST until the first sample.

    Attributes:
        counters: what went over the wire.
    """

    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS
    period = 1.0 / spec.RATE_HZ

    def __init__(
        self, options: spec.LiveOptions | None = None, *, doors: Doors = None, idle: Idle | None = None
    ) -> None:
        options = options or spec.LiveOptions()
        self.SUPPLIES = spec.list_supplied(options)
        self.counters = LinkCounters()
        self._options, self._idle = options, idle
        self._game_shifts = options.shifts == "game"
        self._memory, self._mapped = SharedMemory(doors), doors is not None
        index = options.car_index
        self._claim = CarClaim(self._memory, index, self._mapped)
        self._sampler = CarSampler(self._memory, index, self._mapped, self.counters)
        self._other_cars = OtherCarReader(self._memory, index, self._mapped)
        self._sim_state = SimStateWriter(self._memory, index, self._mapped)
        self._classic = ClassicPageReader(self._memory)
        self._settings = CarSettings(self._classic, index)
        self._teleporter, self._shifter = Teleporter(), PaddleShifter()
        self._encoder = ControlsEncoder(options.mguh_mode, options.headlights)
        self._signals: PageSignalReader | None = None
        self._lines = DebugLinesWriter(self._memory)
        if options.draw:  # the drawing of the plan has the page
            self.ACCEPTS = spec.ACCEPTS - {"lines"}
        self._controls = Controls(brake=1.0)  # written last
        self._limiter = math.nan  # rad/s
        self._place = (math.nan, math.nan, math.nan)  # x, y, z of the car as read last, m, world

    @property
    def foreign_writes(self) -> int:
        """How often another program had changed our controls when we wrote the next."""
        return self._claim.foreign_writes

    def select_signals(self, signals: Sequence[Signal]) -> None:
        """Fill `signals` in every state from the next one on."""
        self._signals = PageSignalReader(signals, self._memory, self._mapped) if signals else None

    def make_drawing(self, course: Course) -> PlanDrawing | None:
        """Return what draws the plan in the game; None where the options want no drawing."""
        return PlanDrawing(course) if self._options.draw else None

    def open(self, now: float) -> None:
        """Wait for the session, take the car with the brake on, and wait for packet_id to advance."""
        self._claim.acquire_lock()
        try:
            if self._idle is not None and not self._mapped:
                now = await_session(self._classic, now, self._options.wait, self._idle)
            self._sampler.reset_silence(now)
            self._claim.create_page(self._encode_controls(self._controls, 0))
            if self._idle is not None:
                self._await_sample(now, self._idle)
            if self._options.car_index == PLAYER:
                self._limiter = self._classic.read_limiter()
        except BaseException:
            self.close()
            raise

    def _await_sample(self, now: float, idle: Idle) -> None:
        wait, index = self._options.wait, self._options.car_index
        deadline, recreate = now + wait, now + _RECREATE_S
        while not self.has_new_sample():
            now = idle()
            if now >= deadline:
                raise SimulatorError(
                    f"car {index} {self._explain_silence()}",
                    where=f"{self._memory.folder}/{spec.car_name(index)}",
                    expected=f"an answer within {wait:g} s",
                    hint="start a session with Custom AI switched on, or `trailbrake serve assetto`; `trailbrake "
                    "doctor assetto` says what refuses it",
                )
            if now >= recreate:
                recreate = now + _RECREATE_S
                self._claim.create_page(self._encode_controls(self._controls, 0))
        self._sampler.reset_silence(now)

    def _explain_silence(self) -> str:
        """Return what is known about a car that the game does not hand over."""
        if self._sampler.is_published:
            return "stands still: its packet_id does not advance"
        static = self._classic.read_static()
        if static is not None and self._options.car_index >= static.num_cars > 0:
            return f"is not there: the session has {static.num_cars}"
        if static is not None and static.is_online and self._options.car_index > 0:
            return "is not handed over: it is a remote player's"
        return "is not published"

    def has_new_sample(self) -> bool:
        """Return whether packet_id has moved since the last `read`."""
        return self._sampler.has_new_sample()

    def read(self, now: float) -> CarState:
        """Return the newest sample. Phase LOST when packet_id has stood still for longer than 0.25 s of `now`."""
        sampler, sim_state = self._sampler, self._sim_state
        if sim_state.is_restarting:
            sim_state.update_restart(now)
        state = sampler.read_state(now)
        state.max_engine_speed = self._limiter
        self._place = state.x, state.y, state.z
        stale = sampler.is_stale
        if not sampler.advanced and (sim_state.is_paused or (stale and self._is_paused_by_others())):
            state.phase = Phase.PAUSED
        elif stale or sampler.sample is None:
            state.phase = Phase.LOST
            if stale:
                sampler.handle_silence()
        if sampler.sample is not None:
            state.others = self._other_cars.read_cars(sampler.packet_id)
        if self._signals is not None:
            state.signals = self._signals.read_signals(sampler.data, sampler.packet_id)
        return state

    def rehearse(self, controls: Controls) -> None:
        """Use idle time: decode the last sample again, compare our page, and encode `controls` without sending."""
        self._sampler.decode_again()
        if self._claim.is_open:
            self._claim.compare_page()
            self._encode_controls(controls, 0)

    def _is_paused_by_others(self) -> bool:
        """Return whether the player has paused the game, or another program by SimState."""
        graphics = self._classic.read_graphics()
        return (graphics is not None and graphics.status == acpmf.PAUSE) or bool(self._sim_state.read_state().pause)

    def write(self, controls: Controls) -> None:
        """Send `controls`.

        A gear becomes presses of a paddle, or is left to the game's automatic box; settings become presses of their
        buttons.
        """
        if self._game_shifts and controls.gear is not None:
            controls = replace(controls, gear=None)
        sampler = self._sampler
        step = sampler.packet_id
        shift = self._shifter.choose_paddle(controls.gear, sampler.gear, step)
        if self._teleporter.is_active:
            self._teleporter.update_request(step, *self._place[:2])
        self._settings.update_buttons(controls, step, restarting=self._sim_state.is_restarting)
        self._send_controls(controls, shift)

    def _send_controls(self, controls: Controls, shift: int) -> None:
        self._controls = controls
        self._claim.write_controls(self._encode_controls(controls, shift))

    def _encode_controls(self, controls: Controls, shift: int) -> bytes:
        return self._encoder.encode(controls, shift, self._settings.buttons, self._teleporter.request)

    def send_command(self, command: SimCommand) -> None:
        """Send what `command` requests: of the simulation by SimState, of the car by its controls, lines by DebugLines.

        The height of a teleport without one is that of the game's own line, else the car's present height.
        """
        if command.pause is False and self._sim_state.is_paused:
            self._sampler.reset_silence(None)  # the pause was no silence
        self._sim_state.apply_command(command)
        self._encoder.apply_command(command)
        if command.lines is not None and "lines" in self.ACCEPTS:
            self._lines.write_lines([encode_line(line) for line in command.lines])
        if command.teleport is not None or command.to_pits:
            target = command.teleport
            if target is not None and math.isnan(target.z):
                target = replace(target, z=self.find_height(target.x, target.y).z)
            self._teleporter.start_teleport(target, self._sampler.packet_id)
            self._send_controls(self._controls, 0)

    def set_step_time(self, seconds: float) -> float:
        """Request that a physics step takes `seconds` of wall time; return what it will take.

        Longer steps are the game's extra sleep, up to 0.255 s, and beyond that a slower simulation. Where another
        program has requested longer ones, those stay.
        """
        foreign = self._sim_state.find_foreign_step_time(self.period)
        if foreign >= seconds:
            return foreign
        if seconds <= self.period:
            scale = min(self.period / seconds, MAX_TIME_SCALE) if seconds > 0.0 else MAX_TIME_SCALE
            self.send_command(SimCommand(time_scale=scale, extra_sleep=0.0))
            return self.period / scale
        sleep = min(math.ceil((seconds - self.period) * 1e3) * 1e-3, MAX_EXTRA_SLEEP)
        stretched = max(seconds - sleep, self.period)
        self.send_command(SimCommand(time_scale=max(self.period / stretched, MIN_TIME_SCALE), extra_sleep=sleep))
        return stretched + sleep

    def find_height(self, x: float, y: float) -> GroundHeight:
        """Return the height (m) to put the car to at x, y (m, our world)."""
        found = find_ground_height(self._options.root, self._classic.read_static(), x, y)
        if found is not None:
            return found
        z = self._place[2]
        return GroundHeight(0.0 if math.isnan(z) else z, "the car's own place: the track's line was not found")

    def find_last_resorts(self) -> list[LastResort]:
        """Return what brakes the car on its page, gives the session its own pace back, and removes lines.

        The game keeps the controls of a client that has died, a pause or a time scale on its SimState pages, and lines.
        """
        brake = LastResort(self._memory.find_place(spec.controls_name(self._options.car_index)), *codec.BRAKE_PATCH)
        idle = codec.SimState()
        pages = (
            (spec.SIM_STATE_V1, codec.encode_sim_v1(idle)), (spec.SIM_STATE_V0, codec.encode_sim_v0(idle)),
            (spec.DEBUG_LINES, codec.encode_line_count(0)),
        )  # fmt: skip
        return [brake, *(LastResort(self._memory.find_place(name), 0, data, restores=True) for name, data in pages)]

    def release(self) -> None:
        """Leave the brake on and the throttle shut, and the session running at its own pace."""
        self._teleporter.cancel_request()
        self._settings.release_buttons()
        self._controls = Controls(brake=1.0)
        if self._claim.is_open:
            self._send_controls(self._controls, 0)
        self._sim_state.reset_requests()
        self._lines.close()

    def close(self) -> None:
        """Give the car back, and remove the pages that we made."""
        self.release()
        self._claim.close_page()
        self._sim_state.close()
        self._sampler.close()
        self._other_cars.close()
        if self._signals is not None:
            self._signals.close()
        self._classic.close()
        self._claim.release_lock()


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
