"""Our end of the Assetto Corsa wire: takes a car of the game, or of a host, and drives it.

Source: protocol page assetto-custom-ai, sections 1 and 4. Only an advancing packet_id shows that the game runs: pages
of a dead game remain readable.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from trailbrake.errors import SimulatorError
from trailbrake.planning.course import Course
from trailbrake.roles import LastResort, LinkCounters
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.draw import DebugLinesWriter, PlanDrawing, encode_line
from trailbrake.sims.assetto.install.lane_conversion import GroundHeight, find_ground_height
from trailbrake.sims.assetto.signals import PageSignalReader
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.car_claim import CarClaim
from trailbrake.sims.assetto.wire.car_sampler import CarSampler
from trailbrake.sims.assetto.wire.car_settings import CarSettings
from trailbrake.sims.assetto.wire.classic_reader import ClassicPageReader, await_session
from trailbrake.sims.assetto.wire.controls_encoder import ControlsEncoder, PaddleShifter, Teleporter
from trailbrake.sims.assetto.wire.player_sampler import PLAYER, OtherCarReader
from trailbrake.sims.assetto.wire.sim_state_writer import SimStateWriter
from trailbrake.simulator_tools import Doors, Idle
from trailbrake.state import CarState, Controls, Phase, Signal, SimCommand
from trailbrake.state.commands import MAX_EXTRA_SLEEP, MAX_TIME_SCALE, MIN_TIME_SCALE
from trailbrake.transport.shm import SharedMemory

_RECREATE_S = 5.0  # the game ignores a controls page that was made too early in its life: make it again (section 4.6)


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
