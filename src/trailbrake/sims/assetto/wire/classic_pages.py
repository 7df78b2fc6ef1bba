"""The host's classic pages, which describe the player's car, car 0.

Source: protocol page assetto-custom-ai, section 6; bytes in `acpmf`. Quantities that our world lacks are 0, as on the
other pages. No source defines these, so the host assumes: `pitch` and `roll` are positive nose up and right side down,
`abs` and `tc` are 1 while they act, and a missing lap time reads -:--:---.
"""

from trailbrake.race_control import RaceControl, RaceFlag
from trailbrake.roles import RoadPlant
from trailbrake.sims.assetto import convert
from trailbrake.sims.assetto.codec import CarData
from trailbrake.sims.assetto.install import content
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.car_condition import AIR_TEMPERATURE, SECTORS, full_boost
from trailbrake.sims.assetto.wire.car_slot import CarSlot
from trailbrake.sims.assetto.wire.host_pages import HostPages
from trailbrake.transport.shm import SharedPage

_NO_TIME = "-:--:---"
_PRACTICE, _RACE = 0, 2
_FLAGS = {RaceFlag.NONE: 0, RaceFlag.BLUE: 1, RaceFlag.YELLOW: 2, RaceFlag.CHEQUERED: 5}  # section 6: `flag`
_COMPOUND = "Standard"  # our cars have one
_LEVELS = 10  # steps of a setting with a level
_MAX_MS = 0x7FFFFFFF
_MOVING = acpmf.PHYSICS_NAME, acpmf.GRAPHICS_NAME


def build_static_page(plant: RoadPlant, spline_length: float, *, is_online: bool = False) -> acpmf.Static:
    """Return the page of constants of a session.

    Args:
        plant: the world.
        spline_length: m, of what a car's place on the spline is a share of.
        is_online: whether the other cars are those of remote players.
    """
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
        sector_count=SECTORS,
        max_torque=max(car.engine.torque),
        max_power=car.engine.peak_power,
        max_rpm=round(car.engine.limiter_rpm),
        max_fuel=car.fuel.capacity,
        suspension_max_travel=(a, b, c, d),
        tyre_radius=(e, f, g, h),
        max_turbo_boost=full_boost(car),
        aid_fuel_rate=1.0,
        aid_auto_clutch=1,
        aid_auto_blip=int(car.gearbox.blip),
        has_drs=int(car.aero.has_drs),
        has_kers=int(hybrid is not None),
        kers_max_j=0.0 if hybrid is None else hybrid.capacity,
        engine_brake_settings_count=_LEVELS + 1,
        ers_power_controller_count=0 if hybrid is None else _LEVELS + 1,
        track_spline_length=spline_length,
        is_online=int(is_online),
    )


def build_physics_page(
    slot: CarSlot, car: CarData, packet_id: int, *, piloted: bool, race: RaceControl | None = None
) -> acpmf.Physics:
    """Return the page that is written in every step.

    Args:
        slot: the car.
        car: the message of its own page.
        packet_id: of this page.
        piloted: whether a driver of the host drives it.
        race: of the cars: what allows the rear wing, and follows the store of the motor.
    """
    state, params = slot.state, slot.params
    a, b, c, d = car.wheels
    message = slot.message
    core = a.core_temperature, b.core_temperature, c.core_temperature, d.core_temperature
    bias, _, _, _, engine_brake, delivery, recovery = (
        own if value != value else value
        for value, own in zip(slot.setting_counters.values, (params.brakes.front_share, *[1.0] * 6), strict=True)
    )
    hybrid = params.hybrid is not None
    allows_drs = params.aero.has_drs and race is not None and race.allows_drs[slot.index]
    is_open = race is not None and race.is_wing_open[slot.index]
    meter = race.meters[slot.index] if hybrid and race is not None and race.meters else None
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
        tyre_wear=(100.0 - 100.0 * a.wear, 100.0 - 100.0 * b.wear, 100.0 - 100.0 * c.wear, 100.0 - 100.0 * d.wear),
        tyre_dirty_level=(a.dirty_level, b.dirty_level, c.dirty_level, d.dirty_level),
        tyre_core_temperature=core,
        camber_rad=(a.camber_rad, b.camber_rad, c.camber_rad, d.camber_rad),
        drs=float(is_open),
        tc=float(car.traction_control_in_action),
        heading=-state.yaw,
        pitch=-state.pitch,
        roll=state.roll,
        cg_height=car.cg_height,
        car_damage=car.car_damage,
        number_of_tyres_out=4 - car.wheels_valid_surface.bit_count(),
        pit_limiter_on=car.pit_limiter,
        abs=float(car.abs_in_action),
        kers_charge=0.0 if meter is None else meter.charge_share,
        kers_input=float(hybrid and message is not None and message.kers != 0),
        auto_shifter_on=int(message is None or message.autoshift_active != 0),
        turbo_boost=car.turbo_boost,
        air_density=params.aero.air_density,
        air_temp=AIR_TEMPERATURE,
        road_temp=AIR_TEMPERATURE,
        local_angular_vel=car.local_angular_velocity,
        final_ff=car.final_ff,
        engine_brake=round(_LEVELS * engine_brake),
        ers_recovery_level=round(_LEVELS * recovery) if hybrid else 0,
        ers_power_level=round(_LEVELS * delivery) if hybrid else 0,
        ers_is_charging=int(meter is not None and meter.is_charging),
        kers_current_kj=0.0 if meter is None else 0.001 * meter.deployed,
        drs_available=int(allows_drs),
        drs_enabled=int(is_open),
        brake_temp=(a.disc_temperature, b.disc_temperature, c.disc_temperature, d.disc_temperature),
        clutch=car.clutch,
        is_ai_controlled=int(piloted),
        tyre_temp_i=core,
        tyre_temp_m=core,
        tyre_temp_o=core,
        tyre_contact_point=(a.contact_point, b.contact_point, c.contact_point, d.contact_point),
        tyre_contact_normal=(a.contact_normal, b.contact_normal, c.contact_normal, d.contact_normal),
        tyre_contact_heading=(a.look, b.look, c.look, d.look),
        brake_bias=bias,
        local_velocity=car.local_velocity,
    )


def build_graphics_page(
    slots: list[CarSlot], packet_id: int, *, paused: bool, race: RaceControl | None = None
) -> acpmf.Graphics:
    """Return the page that is written in every frame; `slots`: all cars, the player's first; `race`: of them."""
    player = slots[0]
    state, logbook = player.state, player.trip_log
    now, last, best = (_clamped_milliseconds(t) for t in (state.lap_time, logbook.last_lap, state.best_lap_time))
    sector = _clamped_milliseconds(logbook.last_sector)
    progress = convert.zero_if_nan(state.lap_progress)
    return acpmf.Graphics(
        packet_id=packet_id,
        status=acpmf.PAUSE if paused else acpmf.LIVE,
        session=_RACE if race is not None and race.laps else _PRACTICE,
        current_time=acpmf.milliseconds_text(now),
        last_time=acpmf.milliseconds_text(last) if last else _NO_TIME,
        best_time=acpmf.milliseconds_text(best) if best else _NO_TIME,
        split=acpmf.milliseconds_text(sector) if sector else _NO_TIME,
        completed_laps=logbook.laps,
        position=1 if race is None else 1 + race.order.index(0),
        i_current_time=now,
        i_last_time=last,
        i_best_time=best,
        distance_traveled=logbook.distance,
        is_in_pit=int(player.in_pits),
        current_sector_index=min(int(progress * SECTORS), SECTORS - 1),
        last_sector_time=sector,
        number_of_laps=0 if race is None else race.laps,
        flag=0 if race is None else _FLAGS[race.flags[0]],
        tyre_compound=_COMPOUND,
        replay_time_multiplier=1.0,
        normalized_car_position=progress,
        car_coordinates=player.public.position,
        is_in_pit_lane=int(player.in_pits),
        surface_grip=1.0,
    )


def _clamped_milliseconds(seconds: float) -> int:
    return min(_MAX_MS, convert.to_milliseconds(seconds))


class ClassicPages:
    """The page of constants, and unless `is_static` those of physics and graphics, made by `open`."""

    def __init__(self, pages: HostPages, *, is_static: bool = False) -> None:
        self._pages, self.is_static = pages, is_static
        self._open: dict[str, SharedPage] = {}
        self._steps = self._frames = 0

    def open(self, plant: RoadPlant, *, spline_length: float, is_online: bool = False) -> None:
        """Create the pages and write the one that does not change; with the arguments of `build_static_page`."""
        for name in (acpmf.STATIC_NAME,) if self.is_static else (*_MOVING, acpmf.STATIC_NAME):
            self._open[name] = self._pages.create_kept_page(name)
        static = build_static_page(plant, spline_length, is_online=is_online)
        self._pages.write_message(self._open[acpmf.STATIC_NAME], acpmf.encode_static(static))

    def publish_physics(
        self, slot: CarSlot, car: CarData | None, *, piloted: bool, race: RaceControl | None = None
    ) -> None:
        """Write the page of every step; with the arguments of `build_physics_page`. `car` None: not published."""
        if self.is_static:
            return
        self._steps = (self._steps + 1) & _MAX_MS
        message = build_physics_page(slot, car or slot.build_car_data(0), self._steps, piloted=piloted, race=race)
        self._pages.write_message(self._open[acpmf.PHYSICS_NAME], acpmf.encode_physics(message))

    def publish_graphics(self, slots: list[CarSlot], *, paused: bool, race: RaceControl | None = None) -> None:
        """Write the page of a frame; with the arguments of `build_graphics_page`."""
        if self.is_static:
            return
        self._frames = (self._frames + 1) & _MAX_MS
        message = build_graphics_page(slots, self._frames, paused=paused, race=race)
        self._pages.write_message(self._open[acpmf.GRAPHICS_NAME], acpmf.encode_graphics(message))

    def close(self) -> None:
        """Remove the pages."""
        for page in self._open.values():
            page.close(remove=True)
        self._open = {}
