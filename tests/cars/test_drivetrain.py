import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.cars.drivetrain import Differential, interpolate_table


def test_which_differentials_are_open_and_rigid():
    kinds = {kind: Differential(kind=kind).is_rigid for kind in ("open", "lsd", "locked", "spool")}
    assert kinds == {"open": False, "lsd": False, "locked": True, "spool": True}
    assert (load_car("hatchback").drive.open_front, load_car("hatchback").drive.open_rear) == (True, False)
    assert (load_car("gt3").drive.open_front, load_car("gt3").drive.open_rear) == (False, False)


def test_engine_torque_runs_from_full_throttle_to_drag():
    engine = load_car("gt3").engine
    idle, limiter = engine.idle_rpm, engine.limiter_rpm
    assert [engine.full_torque(rpm) for rpm in engine.rpm] == list(engine.torque)
    assert engine.drag_torque(idle) == engine.braking_torque_idle
    assert engine.drag_torque(limiter) == pytest.approx(engine.braking_torque_limiter)
    middle = 0.5 * (idle + limiter)
    assert engine.drag_torque(middle) == pytest.approx(
        0.5 * (engine.braking_torque_idle + engine.braking_torque_limiter)
    )


def test_interpolation_holds_its_ends():
    xs, ys = (1.0, 2.0, 4.0), (10.0, 20.0, 0.0)
    assert [interpolate_table(x, xs, ys) for x in (0.0, 1.0, 1.5, 3.0, 4.0, 9.0)] == [10.0, 10.0, 15.0, 10.0, 0.0, 0.0]
