"""`World`: the embedded simulator as a Plant: cars on a track, laps and contacts counted, one period per step.

`ControlDelay`: the time from a control at the simulator's end of the wire until it acts.

`CameraWorld`: the embedded world with a camera on its first car.
"""

import math
from collections import deque
from collections.abc import Sequence
from copy import copy
from typing import Any

from msgspec.structs import replace

from trailbrake.car_contacts import CarContact, ContactLog
from trailbrake.cars.params import CarParams
from trailbrake.errors import UsageError
from trailbrake.laps import LapRecord, LapTimer
from trailbrake.race_control import CarProgress, EnergyMeter, RaceControl
from trailbrake.roles import RoadOutline
from trailbrake.state import CarState, Controls, Image, Pose, SimCommand, settings_of
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import Track
from trailbrake.world.batch import Batch, count_substeps, write_controls
from trailbrake.world.conditions import GripSchedule, WorldConditions, find_place, parse_grid
from trailbrake.world.pinhole_camera import PinholeCamera
from trailbrake.world.road_renderer import RoadRenderer
from trailbrake.world.row_layout import ControlRow, StateRow
from trailbrake.world.segment_table import NO_PATCH
from trailbrake.world.state_builder import StateBuilder

PERIOD = 1.0 / 333.0  # s, the physics rate of Assetto Corsa
RACE_STEPS = 10  # steps of the world from one look of race control to the next
GRIP_STEP = 0.001  # least change of the ground's grip that is written to the road
MAX_BANK_SHIFT = 1.0  # m between a centre of mass and the road below it, sideways; a tall car on a steep bank has less
_S, _ON_TRACK, _CONTACTS, _STATES = int(StateRow.S), int(StateRow.ON_TRACK), int(StateRow.CONTACTS), int(StateRow.COUNT)
_SPEED, _FUEL, _CHARGE = int(StateRow.VX), int(StateRow.FUEL), int(StateRow.CHARGE)
_DRS, _BOOST = int(ControlRow.DRS) - int(StateRow.COUNT), int(ControlRow.BOOST) - int(StateRow.COUNT)
_X, _Y, _CONTACT_CAR = int(StateRow.X), int(StateRow.Y), int(StateRow.CONTACT_CAR)
_CONTACT_SPEED, _CONTACT_IMPULSE = int(StateRow.CONTACT_SPEED), int(StateRow.CONTACT_IMPULSE)
FORMATION_LEAST, FORMATION_MOST = 0.5, 5.0  # s for which a rolling field is led, so that all cars get their drivers

UNCHANGED = WorldConditions()
DEFAULT_SETTINGS = settings_of(Controls())
_MIN_LEVEL = 1e-3  # of a setting: below it nothing is left of the thing
MAX_PART = 0.0036  # s: a delay is rounded to parts of a period that are no longer


def divide_period(period: float, substeps: int) -> int:
    """Return the number of equal parts of whole substeps, none longer than MAX_PART unless a substep is.

    Parts of different lengths would not do: the outer step extrapolates the ground by the length of its last call.

    Args:
        period: s.
        substeps: of a period.
    """
    return next(
        parts for parts in range(1, substeps + 1)
        if parts == substeps or (substeps % parts == 0 and period <= parts * MAX_PART)
    )  # fmt: skip


class ControlDelay:
    """Holds back the controls of each car by its own delay.

    Args:
        delays: s, one per car; rounded to parts.
        period: s, of the world.
        substeps: of a period.

    Attributes:
        parts: number of equal parts into which a period is divided.
    """

    def __init__(self, delays: Sequence[float], period: float, substeps: int) -> None:
        self.parts = divide_period(period, substeps)
        late = [round(delay / period * self.parts) for delay in delays]
        self._periods = [count // self.parts for count in late]  # whole periods by which a car's controls are late
        self._begins = [count % self.parts for count in late]  # part of a period in which they change
        self._waiting: list[deque[Controls]] = [deque() for _ in late]
        self.clear_all()

    def clear_all(self) -> None:
        """Discard the controls of all cars that have not acted yet: neutral ones take their place."""
        for car in range(len(self._waiting)):
            self.clear_car(car)

    def clear_car(self, car: int) -> None:
        """Discard the controls of a car that have not acted yet: neutral ones take their place."""
        waiting = self._waiting[car]
        waiting.clear()
        waiting.extend(Controls() for _ in range(self._periods[car] + 1))

    def delay_controls(self, controls: Sequence[Controls]) -> list[list[tuple[int, Controls]]]:
        """Return what changes in each part of the next period: (car, controls that act from then on).

        Args:
            controls: what arrives now, one per car.
        """
        parts: list[list[tuple[int, Controls]]] = [[] for _ in range(self.parts)]
        for car, wanted in enumerate(controls):
            waiting = self._waiting[car]
            waiting.append(copy(wanted))  # the sender may use the object again
            before = waiting.popleft()
            if self._begins[car]:  # after a restart this is not what acted last
                parts[0].append((car, before))
            parts[self._begins[car]].append((car, waiting[0]))
        return parts


def apply_settings(car: CarParams, controls: Controls) -> CarParams:
    """Return `car` with the settings of `controls`, which a driver can change while it drives.

    A level is a share of the car's own, 0 is off. ABS and TC aim at the slip that is their own over their level. A
    turbocharger's share of the torque is what its level leaves of it. What a car has not stays not there.
    """
    engine, hybrid = car.engine, car.hybrid
    bias = _level_or_default(controls.brake_bias, car.brakes.front_share)
    car = car.with_brakes(car.brakes.torque_front + car.brakes.torque_rear, bias)
    brakes = car.brakes
    anti_lock, traction = _level_or_default(controls.abs_level, 1.0), _level_or_default(controls.tc_level, 1.0)
    boost = engine.turbo_share * _level_or_default(controls.turbo_level, 1.0)
    full = 1.0 - engine.turbo_share + boost  # what is left of the full-throttle torque
    drag = _level_or_default(controls.engine_brake_level, 1.0)
    if hybrid is not None:
        delivery = _level_or_default(controls.delivery_level, 1.0)
        hybrid = replace(
            hybrid, power=hybrid.power * delivery, torque=hybrid.torque * delivery,
            recharge=hybrid.recharge * _level_or_default(controls.recovery_level, 1.0),
        )  # fmt: skip
    return replace(
        car,
        brakes=replace(
            brakes, abs=brakes.abs and anti_lock > 0.0, abs_slip=brakes.abs_slip / max(anti_lock, _MIN_LEVEL),
            tc=brakes.tc and traction > 0.0, tc_slip=brakes.tc_slip / max(traction, _MIN_LEVEL),
        ),
        engine=replace(
            engine, torque=tuple(full * torque for torque in engine.torque), turbo_share=boost / max(full, _MIN_LEVEL),
            braking_torque_idle=engine.braking_torque_idle * drag,
            braking_torque_limiter=engine.braking_torque_limiter * drag,
        ),
        hybrid=hybrid,
    )  # fmt: skip


def _level_or_default(value: float, own: float) -> float:
    return own if value != value else min(max(value, 0.0), 1.0)


class World:
    """Cars on the first road of a track. Cars collide with each other and with walls.

    Args:
        track: the track.
        cars: one CarParams per car; they begin where `conditions.grid` says.
        seed: of a random order of the grid; nothing else is random.
        period: s, length of one step; divided into equal substeps of about a millisecond.
        conditions: what changes while the cars drive.
    """

    def __init__(
        self,
        track: Track,
        cars: Sequence[CarParams],
        seed: int = 0,
        period: float = PERIOD,
        *,
        conditions: WorldConditions = UNCHANGED,
    ) -> None:
        if not 0.0 < period <= 0.05:
            raise ValueError(f"World: expected a period in (0, 0.05] s, got {period}")
        self.track, self.period = track, period
        self.cars = [_prepare_car(car, conditions) for car in cars]
        self._grip_schedule = GripSchedule(conditions) if conditions.changes_grip else None
        self._grip_factor = 1.0
        self._grid_kind, self._slots = parse_grid(conditions.grid, len(cars), seed)
        self._race_laps = conditions.race_laps
        slipstream = conditions.slipstream == "on"
        self.batch = Batch(
            track, self.cars, group_size=len(self.cars), slipstream=slipstream, tyre_heat=conditions.heats_tyres
        )
        if conditions.patch != NO_PATCH:
            self.batch.lay_patch(conditions.patch)
        self._substeps = count_substeps(period)
        self._dt = period / self._substeps
        self._settings = [DEFAULT_SETTINGS] * len(self.cars)
        self._has_aids = [car.hybrid is not None or car.aero.has_drs for car in self.cars]
        delays = [car.actuation.delay for car in self.cars]
        self._control_delay = ControlDelay(delays, period, self._substeps) if any(delays) else None
        # Views of each car's rows in the batch: making a view takes as long as reading it.
        columns = [self.batch.view_car(car) for car in range(len(self.cars))]
        self._state_builders = [
            StateBuilder(car, column, self._dt) for car, column in zip(self.cars, columns, strict=True)
        ]
        self._control_rows: list[Any] = [column[_STATES:].data for column in columns]
        self._read_value = [column.item for column in columns]  # a row as a Python float
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Put every car at rest on the grid and start the clocks at 0."""
        self.seed = seed
        self._sequence = 0
        road = self.track.road
        self._timers = [LapTimer(road.length, road.closed) for _ in self.cars]
        self._best_lap_times = [math.nan] * len(self.cars)
        self._laps: list[list[LapRecord]] = [[] for _ in self.cars]
        self._contact_log = ContactLog()
        self._begin_race()
        self._formation_began: float | None = 0.0 if self._grid_kind == "rolling" else None  # s; None: released
        for car in range(len(self.cars)):
            self._apply_controls(car, Controls())
            self._place_on_grid(car)
            self._update_laps(car)
        if self._control_delay is not None:
            self._control_delay.clear_all()
        if self._grip_schedule is not None:
            self._grip_schedule.reset()
            self._update_grip(self._grip_schedule)

    def step(self, controls: Sequence[Controls]) -> None:
        """Advance all cars by one period; `controls[i]` is for car i."""
        if self._control_delay is None:
            for car, wanted in enumerate(controls):
                self._apply_controls(car, wanted)
            self._advance(self._substeps)
        else:
            substeps = self._substeps // self._control_delay.parts
            for changes in self._control_delay.delay_controls(controls):
                for car, wanted in changes:
                    self._apply_controls(car, wanted)
                self._advance(substeps)
        self._sequence += 1
        if self._formation_began is not None:
            self._lead_formation(controls)
        ended = [self._update_laps(car) for car in range(len(self.cars))]
        for car, meter in self._meters:
            self._update_meter(car, meter, has_ended=ended[car])
        if len(self.cars) > 1 and (self._sequence % RACE_STEPS == 0 or any(ended)):
            self._update_race()
        if self._grip_schedule is not None:
            self._update_grip(self._grip_schedule)

    def car_state(self, car: int) -> CarState:
        """Return a new CarState of car `car`; fields without a model are NaN."""
        timer = self._timers[car]
        laps = (float(timer.number), timer.lap_time, self._best_lap_times[car], timer.progress)
        return self._state_builders[car].build_state(self._sequence * self.period, self._sequence, laps)

    def laps(self, car: int) -> list[LapRecord]:
        """Return the laps that car `car` has finished since the start or its restart."""
        return list(self._laps[car])

    def counters(self) -> dict[str, Any]:
        """Return {} of one car: contacts and laps are in the states; of several `car_contacts` and their `race`."""
        if len(self.cars) == 1:
            return {}
        return {"car_contacts": self._contact_log.list_contacts(), "race": self.race.list_standings()}

    def road_outline(self) -> RoadOutline:
        """Return the road's centre line and edges."""
        road = self.track.road
        left, right = road.edge_lines()
        return RoadOutline(road.table[:, [RoadColumn.X, RoadColumn.Y]], left[:, :2], right[:, :2], road.closed)

    def execute_command(self, car: int, command: SimCommand) -> None:
        """Carry out teleport, to_pits, restart or collisions for car `car`; the rest is the host's business.

        A way to the pits begins a new lap, a restart also clears contacts and laps. After a teleport the next crossing
        of the line begins a lap.
        Whether cars touch each other is the same for all of them.
        """
        if command.collisions is not None:
            self.batch.collisions_enabled = command.collisions
        if command.restart or command.to_pits:
            contacts = self.batch.view_car(car)[_CONTACTS]
            self._place_on_grid(car, rolls=command.restart)
            if command.restart and self._grid_kind == "rolling":
                self._formation_began = self._sequence * self.period
            if command.restart and car == 0:
                self._begin_race()
            if self._control_delay is not None:
                self._control_delay.clear_car(car)
            if self._grip_schedule is not None and car == 0:
                self._grip_schedule.reset()
            if command.restart:
                self._best_lap_times[car] = math.nan
                self._laps[car].clear()
            else:
                self.batch.view_car(car)[_CONTACTS] = contacts
            self._timers[car].reset()
            self._update_laps(car)
            meter = self.race.meters[car]
            if meter is not None:
                meter.begin_lap()
        elif command.teleport is not None:
            kept = self.batch.view_car(car)[[_CONTACTS, _FUEL, _CHARGE]]
            self._place_at_pose(car, command.teleport)
            self.batch.view_car(car)[[_CONTACTS, _FUEL, _CHARGE]] = kept
            self._timers[car].mark_jump()

    def _advance(self, substeps: int) -> None:
        self.batch.step(self._dt, substeps)
        if len(self.cars) > 1:
            for car, figure in enumerate(self._read_value):
                if figure(_CONTACT_CAR):
                    self._log_touch(car, int(figure(_CONTACT_CAR)) - 1)

    def _log_touch(self, car: int, other: int) -> None:
        """Log what a car's rows say of the other that it touched hardest, once for both."""
        mine, its = self._read_value[car], self._read_value[other]
        if other < car and int(its(_CONTACT_CAR)) - 1 == car:
            return
        time = (self._sequence + 1) * self.period
        self._contact_log.add_touch(CarContact(
            time, time, min(car, other), max(car, other), self._read_value[min(car, other)](_S),
            0.5 * (mine(_X) + its(_X)), 0.5 * (mine(_Y) + its(_Y)), mine(_CONTACT_SPEED), mine(_CONTACT_IMPULSE),
        ))  # fmt: skip

    def place_car(self, car: int, pose: Pose, speed: float) -> None:
        """Put car `car` as new on the road at a pose, rolling at `speed` (m/s); its next crossing begins a lap."""
        self.batch.place_cars(car, pose.x, pose.y, pose.yaw, speed)
        self._fill_store(car)
        self._timers[car].mark_jump()

    def _apply_controls(self, car: int, wanted: Controls) -> None:
        rows = self._control_rows[car]
        write_controls(rows, wanted)
        if self._has_aids[car]:
            meter = self.race.meters[car]
            if meter is not None and meter.is_spent:
                rows[_BOOST] = 0.0
            is_wanted = wanted.drs > 0.0 and not wanted.brake > 0.0
            if not self.race.open_wing(car, self._read_value[car](_S), is_wanted=is_wanted):
                rows[_DRS] = 0.0
        if settings_of(wanted) != self._settings[car]:
            self._apply_settings(car, wanted)

    def _apply_settings(self, car: int, wanted: Controls) -> None:
        self._settings[car] = settings_of(wanted)
        params = apply_settings(self.cars[car], wanted)
        self.batch.change_car(car, params)
        self._state_builders[car].change_car(params)

    def _update_grip(self, schedule: GripSchedule) -> None:
        first = self._timers[0]
        factor = schedule.compute_factor(self._sequence * self.period, first.number, first.progress)
        if abs(factor - self._grip_factor) >= GRIP_STEP:
            self._grip_factor = factor
            self.batch.set_grip_factor(factor)

    def _update_laps(self, car: int) -> bool:
        """Time a car; return whether a lap ended."""
        figure = self._read_value[car]
        on_track = figure(_ON_TRACK) + figure(_ON_TRACK + 1) + figure(_ON_TRACK + 2) + figure(_ON_TRACK + 3)
        timer, time = self._timers[car], self._sequence * self.period
        lap = timer.update(time, figure(_S), 4 - int(on_track), figure(_CONTACTS), timer.lap_time)
        if lap is not None:
            self._laps[car].append(lap)
        if lap is not None and lap.valid and not self._best_lap_times[car] <= lap.time_s:  # best may be NaN
            self._best_lap_times[car] = lap.time_s
        return lap is not None

    def _begin_race(self) -> None:
        hybrids = [car.hybrid for car in self.cars]
        self.race = RaceControl(
            self.track.road.length, len(self.cars), self._race_laps, self._slots,
            zones=self.track.drs_zones, hybrids=hybrids,
        )  # fmt: skip
        self._meters = [(car, meter) for car, meter in enumerate(self.race.meters) if meter is not None]

    def _fill_store(self, car: int) -> None:
        """Let a car's meter begin with the store that the car has been given."""
        meter = self.race.meters[car]
        if meter is not None:
            meter.charge = self._read_value[car](_CHARGE)

    def _update_meter(self, car: int, meter: EnergyMeter, *, has_ended: bool) -> None:
        charge = self._read_value[car](_CHARGE)
        kept = meter.update(charge)
        if kept < charge:
            self.batch.view_car(car)[_CHARGE] = kept
        if has_ended:
            meter.begin_lap()

    def _update_race(self) -> None:
        progress = []
        for timer, laps, figure in zip(self._timers, self._laps, self._read_value, strict=True):
            ended = laps[-1].end if laps else math.nan
            progress.append(CarProgress(timer.distance, figure(_SPEED), len(laps), ended))
        self.race.update(self._sequence * self.period, progress)

    def _place_on_grid(self, car: int, before: float = FORMATION_LEAST, *, rolls: bool = True) -> None:
        """Place a car, at a rolling start where it is so many s `before` the field is released."""
        s, offset, speed = find_place(self.track.road, self._grid_kind, self._slots[car], len(self.cars))
        x, y, _, yaw = self.track.road.points(s - before * speed, offset)[0].tolist()
        self.batch.place_cars(car, x, y, yaw, speed if rolls else 0.0)
        self._fill_store(car)

    def _lead_formation(self, controls: Sequence[Controls]) -> None:
        """Move a rolling field on at its speed, until no car holds the brake for want of a driver."""
        assert self._formation_began is not None
        led = self._sequence * self.period - self._formation_began
        for car in range(len(self.cars)):
            self._place_on_grid(car, FORMATION_LEAST - led)
        if led >= FORMATION_MOST or (led >= FORMATION_LEAST and all(each.brake < 1.0 for each in controls)):
            self._formation_began = None

    def _place_at_pose(self, car: int, pose: Pose) -> None:
        # The pose is the centre of mass; the state is the point of the road under it, which a bank shifts sideways.
        # A pose beyond the walls is left where the walls have moved it.
        self.batch.place_cars(car, pose.x, pose.y, pose.yaw)
        here = self.car_state(car)
        if math.hypot(pose.x - here.x, pose.y - here.y) < MAX_BANK_SHIFT:
            self.batch.place_cars(car, 2.0 * pose.x - here.x, 2.0 * pose.y - here.y, pose.yaw)


def _prepare_car(car: CarParams, conditions: WorldConditions) -> CarParams:
    # The car with the consumption and the tyres' temperature that the conditions ask for.
    if conditions.fuel_rate != 1.0:
        burnt = max(car.fuel.specific_consumption * conditions.fuel_rate, 1e-9)  # the file's own range begins above 0
        car = replace(car, fuel=replace(car.fuel, specific_consumption=burnt))
    if conditions.heats_tyres:
        front, rear = car.tyre_front, car.tyre_rear
        if front.thermal is None or rear.thermal is None:
            raise UsageError(
                "this car's tyres have no heat",
                where="--world tyre_temperature",
                expected="[tyre_front.thermal] and [tyre_rear.thermal] in its file",
                got=car.name,
            )
        start = conditions.tyre_temperature
        car = replace(
            car,
            tyre_front=replace(front, thermal=replace(front.thermal, start_temperature=start)),
            tyre_rear=replace(rear, thermal=replace(rear.thermal, start_temperature=start)),
        )
    return car


class CameraWorld(World):
    """A World whose first car carries a camera. A picture is rendered when its pixels are read.

    Args:
        track: the track.
        cars: as in World.
        seed: as in World.
        period: as in World.
        camera: as in `set_camera`.
        conditions: as in World.
    """

    def __init__(
        self,
        track: Track,
        cars: Sequence[CarParams],
        seed: int = 0,
        period: float = PERIOD,
        camera: dict[str, Any] | None = None,
        *,
        conditions: WorldConditions = UNCHANGED,
    ) -> None:
        self._renderer = RoadRenderer(track.road, PinholeCamera(**(camera or {})))
        super().__init__(track, cars, seed, period, conditions=conditions)

    def set_camera(self, camera: dict[str, Any]) -> None:
        """Replace the camera.

        Args:
            camera: fields of `pinhole_camera.PinholeCamera` by name; the others take the defaults
                of that class, which are the miniature car's: 5 cm above the ground.

        Raises:
            UsageError: a value out of its range.
        """
        self._renderer.camera = PinholeCamera(**camera)

    def car_state(self, car: int) -> CarState:
        """Return a fresh CarState; the first car's has a picture."""
        state = super().car_state(car)
        if car == 0:
            renderer, x, y, yaw = self._renderer, state.x, state.y, state.yaw
            # No encoded bytes: the picture is rendered when its pixels are first read.
            state.image = Image(b"", lambda _: renderer.render_frame(x, y, yaw))
        return state
