"""Samples of the player's car from the classic pages, which the game writes whoever drives: no car is taken.

Source: protocol page assetto-custom-ai, section 6. The pages have no attitude as vectors, no centre of mass at physics
rate and no word on single wheels beside the track, so a state has less than through `Car<N>`: its place is the middle
of the four contact points, lifted by the height of the centre of mass; `wheels.on_track` is not known.

The other cars of a session, by their CarPublic pages.

Source: protocol page assetto-custom-ai, section 2.4. The game writes these pages at its frame rate.
"""

import math
from itertools import count

from trailbrake.roles import LinkCounters
from trailbrake.sims.assetto import codec, convert, spec
from trailbrake.sims.assetto.axes import iso_from_assetto
from trailbrake.sims.assetto.convert import NEUTRAL
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.car_sampler import LONGEST_LOSS
from trailbrake.sims.assetto.wire.classic_reader import ClassicPageReader
from trailbrake.state import CarState, OtherCar, Phase, WheelState
from trailbrake.transport.shm import SharedMemory, SharedPage
from trailbrake.units import KMH, PSI, RPM, G

PLAYER = 0
_NO_TIME_MS = 0x7FFFFFFF
_OUTWARD = (-1.0, 1.0, -1.0, 1.0)  # as in `convert`: the top of a right wheel leans right when it leans outward
_READ_STEPS = 5  # physics steps between reads of the pages
_COUNT_STEPS = 333  # physics steps between counts of the cars


class OtherCarReader:
    """Reads the public pages of all cars but our own.

    Args:
        memory: where the pages are.
        own_index: number of our car.
        mapped: whether to map the pages, see `trailbrake.transport.shm`.
    """

    def __init__(self, memory: SharedMemory, own_index: int, mapped: bool) -> None:
        self._memory, self._own_index, self._mapped = memory, own_index, mapped
        self._pages: dict[int, SharedPage] = {}
        self._cars: list[OtherCar] = []
        self._step = self._read_at = self._counted_at = 0  # physics steps

    def read_cars(self, step: int) -> list[OtherCar]:
        """Return the other cars at physics step `step`: the list of the last call, or a new one."""
        if step < self._step:  # the session was restarted
            self._read_at = self._counted_at = step
        self._step = step
        if step - self._counted_at >= _COUNT_STEPS or self._counted_at == 0:
            self._counted_at = step
            self._open_pages()
        if step - self._read_at >= _READ_STEPS:
            self._read_at = step
            # A new list, since earlier states keep theirs.
            self._cars = [car for index, page in self._pages.items() if (car := _read_car(index, page)) is not None]
        return self._cars

    def _open_pages(self) -> None:
        """Open the pages of new cars, and drop those that were removed. Cars are numbered without gaps."""
        for index in count():
            page = self._pages.get(index)
            if page is not None:
                if page.is_current():
                    continue
                self._pages.pop(index).close()
            if index == self._own_index:
                if not self._memory.page_exists(spec.public_name(index)):
                    return
                continue
            page = self._memory.open_page(spec.public_name(index), mapped=self._mapped)
            if page is None:
                return
            self._pages[index] = page

    def close(self) -> None:
        """Close the pages."""
        for page in self._pages.values():
            page.close()
        self._pages = {}


def _read_car(index: int, page: SharedPage) -> OtherCar | None:
    """Return car `index` as its page shows it; None where the page is not yet written, or was truncated."""
    data = page.read(codec.PUBLIC_SIZE)
    again = page.read(codec.PUBLIC_SIZE)
    if again != data:
        again = page.read(codec.PUBLIC_SIZE)
    if len(again) != codec.PUBLIC_SIZE or codec.decode_packet_id(again) == 0:
        return None
    return convert.other_from_wire(index, codec.decode_public(again))


def state_from_pages(physics: acpmf.Physics, graphics: acpmf.Graphics) -> CarState:
    """Return the state of the player's car; fields that the pages lack are NaN."""
    p, g = physics, graphics
    points = [iso_from_assetto(point) for point in p.tyre_contact_point]
    x, y, z = (sum(point[axis] for point in points) / 4.0 for axis in range(3))
    velocity_x, velocity_y, velocity_z = iso_from_assetto(p.local_velocity)
    g_x, g_y, g_z = iso_from_assetto(p.acc_g)
    roll_rate, pitch_rate, yaw_rate = iso_from_assetto(p.local_angular_vel)
    return CarState(
        time=p.packet_id / spec.RATE_HZ,
        sequence=p.packet_id,
        x=x,
        y=y,
        z=z + p.cg_height,
        yaw=math.remainder(-p.heading, 2.0 * math.pi) if math.isfinite(p.heading) else math.nan,
        pitch=-p.pitch,
        roll=p.roll,
        speed=p.speed_kmh * KMH,
        velocity_x=velocity_x,
        velocity_y=velocity_y,
        velocity_z=velocity_z,
        acceleration_x=g_x * G,
        acceleration_y=g_y * G,
        acceleration_z=g_z * G,
        roll_rate=roll_rate,
        pitch_rate=pitch_rate,
        yaw_rate=yaw_rate,
        steer=max(-1.0, min(1.0, -p.steer_angle)),
        throttle=p.gas,
        brake=p.brake,
        clutch=1.0 - p.clutch,
        gear=p.gear - NEUTRAL,
        engine_speed=p.rpms * RPM,
        fuel_litres=p.fuel,
        damage=max(p.car_damage),
        abs_active=1.0 if p.abs > 0.0 else 0.0,
        tc_active=1.0 if p.tc > 0.0 else 0.0,
        lap=g.completed_laps + 1.0,
        lap_time=g.i_current_time * 1e-3,
        best_lap_time=g.i_best_time * 1e-3 if 0 < g.i_best_time < _NO_TIME_MS else math.nan,
        lap_progress=g.normalized_car_position,
        wheels=[
            WheelState(
                x=points[k][0],
                y=points[k][1],
                z=points[k][2],
                angular_velocity=p.wheel_angular_speed[k],
                load=p.wheel_load[k],
                camber=_OUTWARD[k] * p.camber_rad[k],
                pressure=p.wheels_pressure[k] * PSI,
                core_temperature=p.tyre_core_temperature[k],
                disc_temperature=p.brake_temp[k],
                wear=1.0 - 0.01 * p.tyre_wear[k],  # 100 is a new tyre here
            )
            for k in range(4)
        ],
    )


class PlayerSampler:
    """Reads the samples of the player's car.

    Args:
        memory: where the pages are.
        counters: of samples and losses, changed.

    Attributes:
        state: the newest sample; an empty state before it.
        graphics: the page of the frame of that sample; None before it.
    """

    def __init__(self, memory: SharedMemory, counters: LinkCounters) -> None:
        self.state = CarState(phase=Phase.LOST)
        self.graphics: acpmf.Graphics | None = None
        self._counters = counters
        self._reader = ClassicPageReader(memory)
        self._others = OtherCarReader(memory, PLAYER, mapped=False)
        self._packet_id: int | None = None  # of the newest sample; None: not seen to advance yet
        self._pending: acpmf.Physics | None = None
        self._read_at: float | None = None  # s

    @property
    def reader(self) -> ClassicPageReader:
        """The pages."""
        return self._reader

    def has_new_sample(self) -> bool:
        """Return whether packet_id has moved since the last `read_state`."""
        physics = self._reader.read_physics()
        if physics is None:
            return False
        if self._packet_id is None:  # the content of a dead game looks alike
            self._packet_id = physics.packet_id
        if physics.packet_id == self._packet_id:
            return False
        again = self._reader.read_physics()
        self._pending = again if again is not None and again != physics else physics
        return True

    def read_state(self, now: float) -> CarState:
        """Return the newest sample, with its age at `now` (s); LOST after a silence."""
        if self._pending is not None or self.has_new_sample():
            physics, self._pending = self._pending, None
            graphics = self._reader.read_graphics()
            assert physics is not None
            self._count_step(physics.packet_id)
            if graphics is not None:
                self.graphics = graphics
            self.state = state_from_pages(physics, self.graphics or acpmf.Graphics())
            self.state.others = self._others.read_cars(physics.packet_id)
            self._read_at = now
        age = 0.0 if self._read_at is None else now - self._read_at
        self.state.age = age
        if self._read_at is None or age > spec.STALE_S:
            paused = self.graphics is not None and self.graphics.status == acpmf.PAUSE
            self.state.phase = Phase.PAUSED if paused else Phase.LOST
        return self.state

    def _count_step(self, packet_id: int) -> None:
        step = packet_id - (self._packet_id or 0)
        self._counters.received += 1
        if step < 0 or (step > LONGEST_LOSS and self._counters.received > 1):
            self._counters.resyncs += 1
        elif self._counters.received > 1:
            self._counters.lost += step - 1
        self._packet_id = packet_id

    def close(self) -> None:
        """Close the pages."""
        self._reader.close()
        self._others.close()
