import math

import pytest

from trailbrake.sims.donkeycar import convert, spec
from trailbrake.sims.donkeycar.codec import CamConfig, DonkeycarControl, DonkeycarTelemetry
from trailbrake.state import CarState, Controls
from trailbrake.world.pinhole_camera import PinholeCamera

LOCK = 0.58  # rad, of the car in our world


def telemetry(**changes):
    return DonkeycarTelemetry(0.0, 0.0, 0.0, b"", "none", (0.0, 0.0, 0.0), 1.0)._replace(**changes)


def test_velocity_is_turned_into_the_car():
    # Driving along Unity's x axis at 5 m/s, the nose 90 degrees to the right: straight ahead.
    state = convert.state_from_wire(telemetry(vel=(5.0, 0.0, 0.0), angles=(0.0, 90.0, 0.0)), 4.0, None)
    assert (state.velocity_x, state.velocity_y) == pytest.approx((5.0, 0.0))
    state = convert.state_from_wire(telemetry(vel=(5.0, 0.0, 0.0), angles=(0.0, 0.0, 0.0)), 4.0, None)
    assert (state.velocity_x, state.velocity_y) == pytest.approx((0.0, -5.0))


def test_an_older_simulator_leaves_things_unknown():
    state = convert.state_from_wire(telemetry(), 4.0, None)
    assert all(math.isnan(v) for v in (state.yaw, state.velocity_x, state.yaw_rate, state.driving_line))


def test_what_our_simulator_shows_is_what_the_client_sees():
    shown = CarState(time=2.5, x=5.0, y=-3.0, z=0.5, yaw=2.0, pitch=0.02, roll=-0.03, speed=10.0, velocity_x=9.9,
                     velocity_y=-0.4, steer=0.2, throttle=0.5, roll_rate=0.1, pitch_rate=0.2, yaw_rate=0.3)  # fmt: skip
    message = convert.state_to_wire(shown, 1.0, LOCK, b"jpeg", hit=True)
    assert (message.hit, message.image, message.cte) == ("wall", b"jpeg", -1.0)
    assert all(0.0 <= angle < 360.0 for angle in message.angles)
    seen = convert.state_from_wire(message, 4.0, None)
    for name in ("x", "y", "z", "yaw", "pitch", "roll", "speed", "velocity_x", "velocity_y", "yaw_rate", "throttle"):
        assert getattr(seen, name) == pytest.approx(getattr(shown, name)), name
    assert seen.steer * spec.LOCK == pytest.approx(shown.steer * LOCK)
    assert seen.driving_line == 0.25


def test_controls():
    assert convert.controls_to_wire(Controls(steer=0.5, throttle=0.4)) == DonkeycarControl(-0.5, 0.4, 0.0)
    assert convert.controls_to_wire(Controls(throttle=0.4, gear=-1)) == DonkeycarControl(0.0, -0.4, 0.0)
    got = convert.controls_from_wire(DonkeycarControl(0.5, 0.4, 0.1), 5.0, LOCK)
    assert (got.steer, got.throttle, got.brake) == pytest.approx((-math.radians(8.0) / LOCK, 0.4, 0.1))
    assert convert.controls_from_wire(DonkeycarControl(0.0, -0.4, 0.0), 5.0, LOCK).brake == 0.4
    back = convert.controls_from_wire(DonkeycarControl(0.0, -0.4, 0.0), 0.0, LOCK)
    assert (back.throttle, back.gear) == (0.4, -1)


def test_a_camera_is_changed_where_the_client_says_so():
    usual = PinholeCamera(**convert.camera_from_wire(CamConfig()))
    assert (usual.width, usual.height) == (160, 120)
    other = PinholeCamera(**convert.camera_from_wire(CamConfig("JPG", 256.0, 128.0, 90.0, 0.5, 1.0, -0.25, 20.0, 10.0)))
    assert (other.width, other.height) == (256, 128)
    assert other.fov == pytest.approx(2.0 * math.atan(2.0))  # 90 degrees vertically, twice as wide as high
    assert (other.left, other.above, other.forward) == pytest.approx((-0.5, usual.above + 1.0, usual.forward - 0.25))
    assert (other.pitch, other.yaw) == pytest.approx((math.radians(20.0), -math.radians(10.0)))


def test_every_field_of_a_telemetry():
    shown = CarState(time=2.5, x=5.0, y=-3.0, z=0.5, yaw=0.0, pitch=0.25, roll=-0.125, speed=10.0, velocity_x=9.0,
                     velocity_y=-0.5, steer=0.2, throttle=0.5, roll_rate=0.1, pitch_rate=0.2, yaw_rate=0.3)  # fmt: skip
    message = convert.state_to_wire(shown, 1.5, LOCK, b"jpeg", hit=False)
    assert message[1:4] == (0.5, 10.0, b"jpeg")
    assert message[0] == pytest.approx(-0.2 * LOCK / spec.LOCK)
    assert (message.hit, message.pos, message.time, message.cte) == ("none", (3.0, 0.5, 5.0), 2.5, -1.5)
    assert message.vel == pytest.approx((0.5, 0.0, 9.0))  # to the right, up, ahead
    assert message.gyro == pytest.approx((0.2, -0.3, -0.1))
    assert message.angles == pytest.approx((math.degrees(0.25), 0.0, math.degrees(0.125)))


def test_every_field_of_a_state():
    message = DonkeycarTelemetry(
        -0.5, -0.25, -3.0, b"", "none", (3.0, 1.0, 10.0), 2.5, -8.0, (1.0, 2.0, 3.0), (0.1, 0.2, 0.3), (10.0, 0.0, 20.0)
    )
    state = convert.state_from_wire(message, 4.0, "the frame")
    assert (state.time, state.x, state.y, state.z, state.speed) == (2.5, 10.0, -3.0, 1.0, 3.0)
    assert (state.steer, state.throttle, state.driving_line, state.image) == (0.5, 0.0, 1.0, "the frame")
    assert (state.velocity_x, state.velocity_y, state.yaw_rate) == pytest.approx((3.0, -1.0, -0.2))
    assert (state.yaw, state.pitch, state.roll) == pytest.approx((0.0, math.radians(10.0), -math.radians(20.0)))
    assert convert.state_from_wire(message._replace(cte=8.0), 4.0, None).driving_line == -1.0


def test_velocity_needs_the_angles():
    state = convert.state_from_wire(telemetry(vel=(5.0, 0.0, 0.0)), 4.0, None)
    assert math.isnan(state.velocity_x)
    assert math.isnan(convert.state_from_wire(telemetry(angles=(0.0, 0.0, 0.0)), 4.0, None).velocity_y)


@pytest.mark.parametrize(("speed", "brakes"), [(0.5, False), (0.501, True)])
def test_below_half_a_metre_a_second_a_throttle_under_0_reverses(speed, brakes):
    got = convert.controls_from_wire(DonkeycarControl(-1.0, -0.4, 0.6), speed, 0.1)
    assert got == (Controls(steer=1.0, brake=0.6) if brakes else Controls(1.0, 0.4, 0.6, gear=-1))
    assert convert.controls_from_wire(DonkeycarControl(1.0, 0.0, 0.6), speed, 0.1) == Controls(-1.0, 0.0, 0.6)


def test_neutral_is_no_reverse():
    assert convert.controls_to_wire(Controls(throttle=0.4, brake=0.2, gear=0)) == DonkeycarControl(0.0, 0.4, 0.2)
