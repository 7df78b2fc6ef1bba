"""What the host's pages show of a car beyond the world's state: tyre pressure, hot discs, dirt, boost, force feedback.

Simple models of quantities on which nothing in the world depends, from the states that the world supplies. The
constants without another source are estimates for road and race cars:

* Pressure follows the tyre's temperature as a gas of constant volume, from PRESSURE at the tyre's optimal temperature.
* A disc takes the work of its brake, and gives heat to the air in proportion to its difference and more with speed.
* A tyre beside the road gets dirty along DIRT_WAY, and clean along CLEAN_WAY on it.
* Boost follows the throttle with the engine's own lag. Torque is in proportion to the absolute pressure in the engine,
  so that a share of the torque by the turbocharger of s needs a boost of s / (1 - s) times that of the air.
* Force feedback is the aligning moment of the front tyres: side force times a trail that vanishes as they slide.

What a host records of a car from step to step: laps, sectors, distance, and damage by the side of the contact. Pure.

Source: protocol page assetto-custom-ai, sections 2.3 and 6. The unit of `car_damage` is not known; here it is the
km/h by which contacts have changed the car's speed, in the order front, rear, left, right; the fifth stays 0.
"""

import math
from typing import NamedTuple

from trailbrake.cars.params import CarParams
from trailbrake.sims.assetto.codec import ZERO5, Five
from trailbrake.state import CarState
from trailbrake.units import KMH, G

AIR_TEMPERATURE = 25.0  # degC
ATMOSPHERE = 101_325.0  # Pa
ZERO_CELSIUS = 273.15  # K
PRESSURE = 180e3  # Pa above the air's, at the optimal temperature
DISC_SHARE = (0.007, 0.005)  # mass of one disc over that of the car: front, rear
DISC_HEAT = 500.0  # J/(kg K), cast iron
COOLING, COOLING_SPEED = 1.0 / 300.0, 6e-4  # 1/s and 1/m: of the difference from the air
DIRT_WAY, CLEAN_WAY = 50.0, 200.0  # m
MECHANICAL_TRAIL, PNEUMATIC_TRAIL = 0.020, 0.030  # m
TRAIL_SLIP = 1.5  # slip over that of the peak at which the pneumatic trail is gone
SLOW_STEP_S = 0.03  # s between steps of heat, dirt and boost
_new_tuple = tuple.__new__  # builds a named tuple from all of its fields
_MAX_DT = 0.1  # s; after a longer gap the car was somewhere else
SECTORS = 3  # of equal length, as in `trailbrake.laps`
_NEW_LAP_S = 0.01  # s of a lap in which a car that was moved stands at its beginning
_FRONT, _REAR, _LEFT, _RIGHT = range(4)


class ConditionValues(NamedTuple):
    """What the pages show. Wheels: front left, front right, rear left, rear right.

    Attributes:
        dirt: of the tyres, 0..1.
        turbo_boost: bar above the air's pressure.
        pure_feedback: moment at the steering wheel over that of both front tyres at their peak at rest, positive to the
            right, as the wire's steer.
        drivetrain_torque: N m, at all wheels together.
        pit_limiter: whether it is on.
    """

    dirt: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    turbo_boost: float = 0.0
    pure_feedback: float = 0.0
    drivetrain_torque: float = 0.0
    pit_limiter: bool = False


NO_CONDITION = ConditionValues()


def full_boost(car: CarParams) -> float:
    """Return the boost (bar) at full throttle; 0 without a turbocharger."""
    share = car.engine.turbo_share
    return share / (1.0 - share) * ATMOSPHERE * 1e-5 if 0.0 < share < 1.0 and car.engine.turbo_lag > 0.0 else 0.0


class CarCondition:
    """Follows one car. Call `update_state` with each of its states.

    Args:
        car: its parameters.

    Attributes:
        values: what the pages show beyond the state.
    """

    def __init__(self, car: CarParams) -> None:
        self._car = car
        self._full_boost, self._turbo_level = full_boost(car), 1.0
        mass = car.body.mass
        self._per_joule = tuple(1.0 / (share * mass * DISC_HEAT) for share in DISC_SHARE for _ in range(2))
        brakes = car.brakes
        self._full_brake = [0.5 * torque for torque in (brakes.torque_front, brakes.torque_rear) for _ in range(2)]
        thermal = [tyre.thermal for tyre in (car.tyre_front, car.tyre_rear) for _ in range(2)]
        self._optimal = [AIR_TEMPERATURE if t is None else t.optimal_temperature for t in thermal]
        base = car.body.cg_to_front + car.body.cg_to_rear
        static_front = mass * G * car.body.cg_to_rear / base
        self._peak = car.tyre_front.peak_slip_angle
        self._full_moment = static_front * (MECHANICAL_TRAIL + PNEUMATIC_TRAIL)  # over mu
        self.reset()

    def reset(self) -> None:
        """Make the car as new: cold discs, clean tyres, no boost."""
        self._discs = [AIR_TEMPERATURE] * 4
        self._pressures = [PRESSURE] * 4
        self._dirt = [0.0] * 4
        self._boost = self._shown_boost = 0.0
        self._shown_dirt = NO_CONDITION.dirt
        self._time = math.nan
        self.values = NO_CONDITION

    def update_state(self, state: CarState, *, pit_limiter: bool, turbo_level: float = 1.0) -> None:
        """Follow the car to `state`, and fill the pressures and disc temperatures that the state lacks.

        Args:
            state: the newest; changed.
            pit_limiter: whether it is on.
            turbo_level: share of the turbocharger's own part of the torque, to which boost is in proportion; NaN: all.
        """
        self._turbo_level = turbo_level if turbo_level == turbo_level else 1.0
        dt = state.time - self._time
        if not 0.0 <= dt < SLOW_STEP_S:  # NaN: the first state
            self._time = state.time
            self._advance_slow(state, dt if 0.0 < dt < _MAX_DT else 0.0)
        torque = 0.0
        for wheel, disc, pressure in zip(state.wheels, self._discs, self._pressures, strict=True):
            if wheel.disc_temperature != wheel.disc_temperature:
                wheel.disc_temperature = disc
            if wheel.pressure != wheel.pressure:
                wheel.pressure = pressure
            drive = wheel.drive_torque
            if drive == drive:
                torque += drive
        self.values = _new_tuple(
            ConditionValues, (self._shown_dirt, self._shown_boost, self._compute_feedback(state), torque, pit_limiter)
        )

    def _advance_slow(self, state: CarState, dt: float) -> None:
        """Advance heat, dirt and boost by `dt` (s): they change little within a step of the physics."""
        cooling = (COOLING + COOLING_SPEED * state.speed) * dt
        way = state.speed * dt
        discs, dirt = self._discs, self._dirt
        for k, wheel in enumerate(state.wheels):
            brake = wheel.brake_torque
            if brake != brake:  # not supplied
                brake = state.brake * self._full_brake[k] if state.brake == state.brake else 0.0
            spin = wheel.angular_velocity
            heat = brake * abs(spin) * dt * self._per_joule[k] if spin == spin else 0.0
            discs[k] += heat - cooling * (discs[k] - AIR_TEMPERATURE)
            if wheel.on_track < 0.5:
                dirt[k] += (1.0 - dirt[k]) * min(way / DIRT_WAY, 1.0)
            else:
                dirt[k] -= dirt[k] * min(way / CLEAN_WAY, 1.0)
            self._pressures[k] = self._compute_pressure(k, wheel.core_temperature)
        if self._full_boost:
            lag = self._car.engine.turbo_lag
            throttle = state.throttle if state.throttle == state.throttle else 0.0
            self._boost += (throttle - self._boost) * (dt / (lag + dt))
        a, b, c, d = dirt
        self._shown_dirt, self._shown_boost = (a, b, c, d), self._turbo_level * self._boost * self._full_boost

    def _compute_pressure(self, wheel: int, temperature: float) -> float:
        """Return the pressure (Pa above the air's) of a tyre at `temperature` (degC), NaN: at its optimal one."""
        if temperature != temperature:
            return PRESSURE
        ratio = (temperature + ZERO_CELSIUS) / (self._optimal[wheel] + ZERO_CELSIUS)
        return (PRESSURE + ATMOSPHERE) * ratio - ATMOSPHERE

    def _compute_feedback(self, state: CarState) -> float:
        moment = 0.0
        for wheel in state.wheels[:2]:
            slip, angle, load = wheel.combined_slip, wheel.slip_angle, wheel.load
            if slip + angle + load != slip + angle + load or not slip > 0.0:
                continue
            sideways = angle / self._peak  # of the slip, positive: the tyre pushes to the right
            force = load * 2.0 / (1.0 + slip * slip) * sideways  # over mu: 2 s / (1 + s^2) is 1 at the peak
            trail = MECHANICAL_TRAIL + PNEUMATIC_TRAIL * max(1.0 - slip / TRAIL_SLIP, 0.0)
            moment -= force * trail
        return moment / self._full_moment


class TripLog:
    """Follows one car. Call `add_state` after every step, `mark_discontinuity` where a command has moved the car.

    Attributes:
        laps: finished laps.
        last_lap: s, 0 before the first.
        last_sector: s that the newest finished sector took, 0 before the first.
        distance: m driven.
        damage: as the wire has it.
    """

    __slots__ = ("_previous", "_sector_began", "damage", "distance", "laps", "last_lap", "last_sector")

    def __init__(self) -> None:
        self._previous: CarState | None = None
        self.laps = 0
        self.last_lap = self.last_sector = self.distance = 0.0
        self._sector_began = math.nan  # s of the lap; NaN: not seen
        self.damage: Five = ZERO5

    def mark_discontinuity(self, *, repaired: bool = False) -> None:
        """Treat the next state as the first: the car was moved. `repaired`: its damage is 0 from now on."""
        self._previous = None
        if repaired:
            self.damage = ZERO5

    def add_state(self, state: CarState) -> None:
        """Add the state after one step."""
        previous, self._previous = self._previous, state
        if previous is None:
            self._sector_began = 0.0 if state.lap_time < _NEW_LAP_S else math.nan
            return
        dt = state.time - previous.time
        self.distance += state.speed * dt
        if state.lap > previous.lap:
            # A lap began at time - lap_time: what that has moved by is the time of the lap that ended.
            self.laps += 1
            self.last_lap = (state.time - state.lap_time) - (previous.time - previous.lap_time)
            self._finish_sector(self.last_lap)
            self._sector_began = 0.0
        elif state.lap_time < previous.lap_time:  # the first crossing after the car was moved
            self._sector_began = 0.0
        else:
            begun, now = previous.lap_progress, state.lap_progress
            gate = int(now * SECTORS) / SECTORS if now == now else 0.0
            if begun < gate <= now:
                at = (gate - begun) / (now - begun)
                self._finish_sector(previous.lap_time + at * (state.lap_time - previous.lap_time))
        if state.contact_depth > 0.0:
            self._add_damage(previous, state, dt)

    def _finish_sector(self, lap_time: float) -> None:
        if self._sector_began == self._sector_began:
            self.last_sector = lap_time - self._sector_began
        self._sector_began = lap_time

    def _add_damage(self, previous: CarState, state: CarState, dt: float) -> None:
        # The impact is the change of velocity, in the car's axes, beyond what its acceleration explains.
        x = state.velocity_x - previous.velocity_x - (state.acceleration_x + state.yaw_rate * state.velocity_y) * dt
        y = state.velocity_y - previous.velocity_y - (state.acceleration_y - state.yaw_rate * state.velocity_x) * dt
        impact = math.hypot(x, y)
        if not impact > 0.0:
            return
        along, across = _FRONT if x < 0.0 else _REAR, _RIGHT if y > 0.0 else _LEFT
        side = along if abs(x) >= abs(y) else across
        damage = list(self.damage)
        damage[side] += impact / KMH
        a, b, c, d, e = damage
        self.damage = (a, b, c, d, e)
