"""What our host tells on the game's three classic pages: of the player's car, car 0.

Source: protocol page assetto-custom-ai, section 6; bytes in `acpmf`. What our world does not know is 0, as on the other
pages. Assumed, since no source says: `pitch` and `roll` are positive nose up and right side down, `abs` and `tc` are
1 while they act, and lap times that are not there yet read -:--:---.
"""

from trailbrake.roles import Plant
from trailbrake.sims.assetto import acpmf, convert
from trailbrake.sims.assetto.codec import CarData
from trailbrake.sims.assetto.files import content
from trailbrake.sims.assetto.slot import Counts, Slot
from trailbrake.transport.shm import Page, SharedMemory

_NO_TIME = "-:--:---"
_PRACTICE = 0
_SECTORS = 3  # as in `trailbrake.laps`
_LEVELS = 10  # steps of a setting with a level
_MOST_MS = 0x7FFFFFFF


def static_of(plant: Plant) -> acpmf.Static:
    """Return the page of what stays the same in a session."""
    car = plant.cars[0]
    body = (car.suspension_front, car.suspension_front, car.suspension_rear, car.suspension_rear)
    tyres = (car.tyre_front, car.tyre_front, car.tyre_rear, car.tyre_rear)
    a, b, c, d = (links.bump_travel + links.droop_travel for links in body)
    e, f, g, h = (tyre.radius for tyre in tyres)
    hybrid = car.hybrid
    return acpmf.Static(
        sm_version="1.7",
        ac_version="1.16.3",
        number_of_sessions=1,
        num_cars=len(plant.cars),
        car_model=content.folder_name(car.name),
        track=content.folder_name(plant.track.name),
        player_name="trailbrake",
        player_nick="trailbrake",
        sector_count=_SECTORS,
        max_torque=max(car.engine.torque),
        max_power=car.engine.peak_power,
        max_rpm=round(car.engine.limiter_rpm),
        max_fuel=car.fuel.capacity,
        suspension_max_travel=(a, b, c, d),
        tyre_radius=(e, f, g, h),
        aid_fuel_rate=1.0,
        aid_auto_clutch=1,
        aid_auto_blip=int(car.gearbox.blip),
        has_drs=int(car.aero.has_drs),
        has_kers=int(hybrid is not None),
        kers_max_j=0.0 if hybrid is None else hybrid.capacity,
        engine_brake_settings_count=_LEVELS + 1,
        ers_power_controller_count=0 if hybrid is None else _LEVELS + 1,
        track_spline_length=plant.track.road.length,
    )


def physics_of(slot: Slot, car: CarData, packet_id: int, *, piloted: bool) -> acpmf.Physics:
    """Return the page of every step.

    Args:
        slot: of the car.
        car: what its own page says, or would say.
        packet_id: of this page.
        piloted: whether our own driver drives it.
    """
    state, params = slot.state, slot.params
    a, b, c, d = car.wheels
    asked = slot.message
    bias, _, _, _, engine_brake, delivery, recovery = (
        own if value != value else value
        for value, own in zip(slot.dials.values, (params.brakes.front_share, *[1.0] * 6), strict=True)
    )
    has_drs, hybrid = params.aero.has_drs, params.hybrid is not None
    return acpmf.Physics(
        packet_id=packet_id,
        gas=car.gas,
        brake=car.brake,
        fuel=car.fuel,
        gear=car.gear,
        rpms=round(car.rpm),
        steer_angle=-state.steer if state.steer == state.steer else 0.0,
        speed_kmh=car.speed_kmh,
        velocity=car.velocity,
        acc_g=car.acc_g,
        wheel_slip=(a.slip, b.slip, c.slip, d.slip),
        wheel_load=(a.load, b.load, c.load, d.load),
        wheels_pressure=(a.pressure, b.pressure, c.pressure, d.pressure),
        wheel_angular_speed=(a.angular_velocity, b.angular_velocity, c.angular_velocity, d.angular_velocity),
        tyre_wear=(a.wear, b.wear, c.wear, d.wear),
        tyre_core_temperature=(a.core_temperature, b.core_temperature, c.core_temperature, d.core_temperature),
        camber_rad=(a.camber_rad, b.camber_rad, c.camber_rad, d.camber_rad),
        drs=float(has_drs and asked is not None and asked.drs != 0),
        tc=float(car.traction_control_in_action),
        heading=-state.yaw,
        pitch=-state.pitch,
        roll=state.roll,
        cg_height=car.cg_height,
        car_damage=car.car_damage,
        number_of_tyres_out=4 - car.wheels_valid_surface.bit_count(),
        abs=float(car.abs_in_action),
        kers_input=float(hybrid and asked is not None and asked.kers != 0),
        auto_shifter_on=int(asked is None or asked.autoshift_active != 0),
        air_density=params.aero.air_density,
        local_angular_vel=car.local_angular_velocity,
        engine_brake=round(_LEVELS * engine_brake),
        ers_recovery_level=round(_LEVELS * recovery) if hybrid else 0,
        ers_power_level=round(_LEVELS * delivery) if hybrid else 0,
        drs_available=int(has_drs),
        drs_enabled=int(has_drs),
        brake_temp=(a.disc_temperature, b.disc_temperature, c.disc_temperature, d.disc_temperature),
        clutch=car.clutch,
        is_ai_controlled=int(piloted),
        tyre_contact_point=(a.contact_point, b.contact_point, c.contact_point, d.contact_point),
        tyre_contact_normal=(a.contact_normal, b.contact_normal, c.contact_normal, d.contact_normal),
        tyre_contact_heading=(a.look, b.look, c.look, d.look),
        brake_bias=bias,
        local_velocity=car.local_velocity,
    )


def graphics_of(slots: list[Slot], packet_id: int, *, paused: bool) -> acpmf.Graphics:
    """Return the page of every frame, of the first of all cars."""
    player = slots[0]
    state, logbook = player.state, player.logbook
    now, last, best = (_ms(t) for t in (state.lap_time, logbook.last_lap, state.best_lap_time))
    driven = [slot.logbook.laps + convert.known(slot.state.lap_progress) for slot in slots]
    progress = convert.known(state.lap_progress)
    return acpmf.Graphics(
        packet_id=packet_id,
        status=acpmf.PAUSE if paused else acpmf.LIVE,
        session=_PRACTICE,
        current_time=acpmf.milliseconds_text(now),
        last_time=acpmf.milliseconds_text(last) if last else _NO_TIME,
        best_time=acpmf.milliseconds_text(best) if best else _NO_TIME,
        completed_laps=logbook.laps,
        position=1 + sum(other > driven[0] for other in driven),
        i_current_time=now,
        i_last_time=last,
        i_best_time=best,
        distance_traveled=logbook.distance,
        is_in_pit=int(player.in_pits),
        current_sector_index=min(int(progress * _SECTORS), _SECTORS - 1),
        replay_time_multiplier=1.0,
        normalized_car_position=progress,
        car_coordinates=player.public.position,
        is_in_pit_lane=int(player.in_pits),
        surface_grip=1.0,
    )


def _ms(seconds: float) -> int:
    return min(_MOST_MS, convert.milliseconds(seconds))


class ClassicPages:
    """The three pages, made by `open`."""

    def __init__(self, memory: SharedMemory, mapped: bool, counts: Counts) -> None:
        self._memory, self._mapped, self._counts = memory, mapped, counts
        self._pages: dict[str, Page] = {}
        self._steps = self._frames = 0

    def open(self, plant: Plant) -> None:
        """Make the pages and write the one that does not change."""
        for name in (acpmf.PHYSICS_NAME, acpmf.GRAPHICS_NAME, acpmf.STATIC_NAME):
            self._pages[name] = self._memory.create(name, acpmf.PAGE_SIZE, mapped=self._mapped)
        self._counts.store(self._pages[acpmf.STATIC_NAME], acpmf.encode_static(static_of(plant)))

    def publish_physics(self, slot: Slot, car: CarData | None, *, piloted: bool) -> None:
        """Write the page of every step; see `physics_of`. `car`: None where its own page was not written."""
        self._steps = (self._steps + 1) & _MOST_MS
        message = physics_of(slot, car or slot.as_car(0), self._steps, piloted=piloted)
        self._counts.store(self._pages[acpmf.PHYSICS_NAME], acpmf.encode_physics(message))

    def publish_graphics(self, slots: list[Slot], *, paused: bool) -> None:
        """Write the page of every frame."""
        self._frames = (self._frames + 1) & _MOST_MS
        message = graphics_of(slots, self._frames, paused=paused)
        self._counts.store(self._pages[acpmf.GRAPHICS_NAME], acpmf.encode_graphics(message))

    def close(self) -> None:
        """Remove the pages."""
        for page in self._pages.values():
            page.close(remove=True)
        self._pages = {}
