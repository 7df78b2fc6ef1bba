"""What is under the car, on roads of known geometry."""

import math

import numpy as np
import pytest

from trailbrake.frames import up_vector
from trailbrake.tracks.road import Road
from trailbrake.tracks.track import SURFACES, Track
from trailbrake.world.row_layout import StateRow
from trailbrake.world.segment_table import GripPatch

PERIOD = 1.0 / 333.0


@pytest.mark.parametrize("heading", [0.0, 0.4, math.pi / 2, -2.0])
@pytest.mark.parametrize("offset", [-5.0, 0.0, 4.0])
def test_the_road_s_plane_in_a_banked_bend_is_that_of_a_cone(rig, roads, heading, offset):
    radius, bank = 80.0, -0.2
    around = 0.7
    out = radius - offset
    x, y, yaw = out * math.sin(around), -out * math.cos(around), around + heading
    r = rig("gt3", roads.circle(radius, bank), x=x, y=y, yaw=yaw)
    # Rising outward: height falls by tan(bank) per metre to the left, so the normal leans inward.
    left = np.array([-math.sin(around), math.cos(around), 0.0])
    normal = np.array([0.0, 0.0, 1.0]) - math.tan(bank) * left
    normal /= np.linalg.norm(normal)
    pitch, roll = math.asin(r.road_pitch), math.asin(r.road_roll)
    assert np.array(up_vector(r.yaw, pitch, roll)) == pytest.approx(normal, abs=2e-4)
    assert r.z == pytest.approx(offset * math.tan(bank), abs=1e-3)
    assert (r.s, r.offset) == pytest.approx((around * radius, offset), abs=0.01)
    assert r.heading == pytest.approx(heading, abs=1e-3)
    # Gravity in the car's axes: what the plane does not hold.
    pull = np.array([r.gravity_x, r.gravity_y, -r.normal_gravity])
    assert np.linalg.norm(pull) == pytest.approx(9.80665, rel=1e-9)
    assert r.normal_gravity == pytest.approx(9.80665 * normal[2], rel=1e-4)


def test_gravity_pulls_downhill_in_every_heading(rig, roads):
    grade = 0.12
    for yaw in (0.0, 1.0, 2.5, -1.5):
        r = rig("gt3", roads.straight(grade=grade), x=500.0, yaw=yaw)
        along = r.gravity_x * math.cos(yaw) * 1.0 - r.gravity_y * math.sin(yaw)  # nearly: the plane is seen from above
        assert along == pytest.approx(-9.80665 * math.sin(math.atan(grade)), rel=0.01)


def kerbed(width=1.2, half_width=5.0):
    s = np.arange(400) * 2.0
    road = Road.from_columns(2.0, False, s, 0 * s, 0 * s, 0 * s, width_left=half_width, width_right=half_width,
                             kerb_left=width, kerb_right=0.0, grip=0.9)  # fmt: skip
    return Track("kerbed", "", (road,))


def profile(s, across, width):
    """Height of a kerb by its description in `tracks.kerbs`: smooth steps up and down, waves along it."""
    w = across / width
    if not 0.0 < w < 1.0:
        return 0.0
    rise = min(w / 0.65, (1.0 - w) / 0.35)
    body = rise * rise * (3.0 - 2.0 * rise)
    return body * (0.034 + 0.006 * math.sin(math.pi * s / 0.6) ** 2) * min(width / 1.2, 1.0)


@pytest.mark.parametrize("across", [0.1, 0.5, 0.9])
def test_a_wheel_on_a_kerb_stands_as_high_as_the_kerb(rig, across):
    from trailbrake.tracks.kerbs import KERB_WIDTH

    track = kerbed(KERB_WIDTH)
    probe = rig("gt3", track, x=100.0)
    half = 0.5 * probe.car.body.track_front
    r = rig("gt3", track, x=100.0, y=5.0 + across - half)
    bump = r.four("ground_height")
    front_s = 100.0 + r.car.body.cg_to_front
    assert bump[0] == pytest.approx(profile(front_s, across, KERB_WIDTH), rel=1e-6)
    assert bump[0] > 0.0
    assert (bump[1], bump[3]) == (0.0, 0.0)
    assert r.four("on_track")[0] == 0.0
    assert r.four("on_track")[1] == 1.0
    assert r.four("grip")[0] == pytest.approx(0.9 * SURFACES["kerb"].grip)
    assert r.four("grip")[1] == pytest.approx(0.9)
    soft = r.four("rolling_arm")
    tyre = r.car.tyre_front
    assert soft[0] == pytest.approx((tyre.rolling_resistance + SURFACES["kerb"].rolling) * tyre.radius)
    assert soft[1] == pytest.approx(tyre.rolling_resistance * tyre.radius)


def test_the_ground_rises_under_a_wheel_over_one_look(rig):
    """A kerb that comes under the wheel at a look is climbed over the substeps to the next one, without a step."""
    track = kerbed()
    r = rig("gt3", track, x=100.0)
    r.set("y", 5.6 - 0.5 * r.car.body.track_front)  # moved there without a look
    r.step()
    target = r.four("ground_height_rate")[0] * PERIOD
    assert r.four("ground_height")[0] == 0.0
    assert target == pytest.approx(profile(r.s + r.car.body.cg_to_front, 0.6, 1.2), rel=0.02)
    r.step()
    assert r.four("ground_height")[0] == pytest.approx(target, rel=1e-9)
    r.run(2.0, brake=1.0)
    assert r.four("ground_height")[0] == pytest.approx(target, rel=0.2)
    assert r.roll > 0.001  # the kerb lifts the left side
    assert r.four("load").sum() == pytest.approx(r.car.body.mass * 9.80665, rel=1e-3)


def test_beyond_the_kerb_is_the_ground_beside_the_road(rig):
    track = kerbed()
    r = rig("gt3", track, x=100.0, y=5.0 + 1.2 + 1.5)
    off = track.off_road
    assert r.four("grip")[[0, 2]].tolist() == [off.grip] * 2
    assert r.four("ground_height")[[0, 2]].tolist() == [0.0] * 2
    tyre = r.car.tyre_rear
    assert r.four("rolling_arm")[2] == pytest.approx((tyre.rolling_resistance + off.rolling) * tyre.radius)


@pytest.mark.parametrize(("begin", "left", "right"), [(80.0, 1.0, 0.6), (80.0, 0.5, 0.5), (130.0, 1.0, 1.0)])
def test_each_wheel_has_the_grip_of_the_patch_on_its_side(rig, begin, left, right):
    track = kerbed()
    r = rig("gt3", track, x=100.0)
    r.batch.lay_patch(GripPatch(begin, 40.0, 0.5 if begin > 100.0 else left, right))
    r.batch.place_cars(0, 100.0, 0.0, 0.0)
    assert r.four("grip") == pytest.approx([0.9 * left, 0.9 * right, 0.9 * left, 0.9 * right])
    r.batch.set_grip_factor(0.7)
    r.batch.place_cars(0, 100.0, 1.5, 0.0)  # all wheels left of the middle
    assert r.four("grip") == pytest.approx([0.7 * 0.9 * left] * 4)


def test_a_crest_s_curve_lifts_neither_axle_nor_lets_it_hang(rig):
    """On a parabola the wheels stand below the plane that touches it under the car, by x^2 / (2 R)."""
    s = np.arange(500) * 2.0
    radius = 300.0
    road = Road.from_columns(
        2.0, False, s, 0 * s, 0 * s, 0 * s, z=-((s - 500.0) ** 2) / (2.0 * radius), grade=-(s - 500.0) / radius
    )
    r = rig("hatchback", Track("crest", "", (road,)), x=500.0)
    body = r.car.body
    bump = r.four("ground_height")
    assert bump[:2] == pytest.approx([-(body.cg_to_front**2) / (2.0 * radius)] * 2, rel=1e-3)
    assert bump[2:] == pytest.approx([-(body.cg_to_rear**2) / (2.0 * radius)] * 2, rel=1e-3)


def test_the_pose_moves_as_the_speeds_say(rig, roads):
    """A long straight run: the place is the time integral of speed to rounding, however many looks it takes."""
    r = rig("gt3", roads.straight(12000.0), x=10.0, y=1.0)
    r.roll_at(50.0, gear=0)
    moved = 0.0
    for _ in range(2000):
        before = r.vx
        r.batch.step(0.001, 1)
        moved += r.vx * 0.001  # speeds first, places with the new ones
        assert r.vx < before
    assert r.x - 10.0 == pytest.approx(moved, rel=2e-10)  # the kernels' cosine is good to 1e-10, and used twice
    assert r.batch.get_row(StateRow.S)[0] == pytest.approx(r.x, abs=1e-9)
