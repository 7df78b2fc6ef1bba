"""What a driver can set of a car while it drives: the settings of `Controls`, as changes of the car's data."""

from msgspec.structs import replace

from trailbrake.cars.params import CarParams
from trailbrake.state import Controls, settings_of

DEFAULT_SETTINGS = settings_of(Controls())


def apply_settings(car: CarParams, controls: Controls) -> CarParams:
    """Return `car` with the settings of `controls`. A level is a share of the car's own, 0 is off.

    ABS and TC aim at the slip that is their own over their level. A turbocharger's share of the torque is what its
    level leaves of it. What a car has not stays not there.
    """
    brakes, engine, hybrid = car.brakes, car.engine, car.hybrid
    total = brakes.torque_front + brakes.torque_rear
    bias = _level_or_default(controls.brake_bias, brakes.front_share)
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
            brakes, torque_front=bias * total, torque_rear=(1.0 - bias) * total,
            abs=brakes.abs and anti_lock > 0.0, abs_slip=brakes.abs_slip / max(anti_lock, _MIN_LEVEL),
            tc=brakes.tc and traction > 0.0, tc_slip=brakes.tc_slip / max(traction, _MIN_LEVEL),
        ),
        engine=replace(
            engine, torque=tuple(full * torque for torque in engine.torque), turbo_share=boost / max(full, _MIN_LEVEL),
            braking_torque_idle=engine.braking_torque_idle * drag,
            braking_torque_limiter=engine.braking_torque_limiter * drag,
        ),
        hybrid=hybrid,
    )  # fmt: skip


_MIN_LEVEL = 1e-3  # of a level: below it nothing is left of the thing


def _level_or_default(value: float, own: float) -> float:
    return own if value != value else min(max(value, 0.0), 1.0)
