import math

import pytest


def corners(r):
    """Offsets (m, left) of the box's corners on a straight road along x."""
    body = r.car.body
    centre = 0.5 * (body.cg_to_front - body.cg_to_rear)
    return [
        r.y + (centre + dx) * math.sin(r.yaw) + dy * math.cos(r.yaw)
        for dx in (0.5 * body.length, -0.5 * body.length)
        for dy in (0.5 * body.width, -0.5 * body.width)
    ]


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(("angle", "speed"), [(0.1, 50.0), (0.5, 30.0), (1.5, 20.0)])
def test_a_wall_keeps_the_car_in_and_counts_one_contact_a_hit(rig, roads, side, angle, speed):
    r = rig("gt3", roads.straight(half_width=6.0, runoff=4.0), x=500.0, yaw=side * angle)
    r.roll_at(speed)
    before = 0.5 * r.car.body.mass * speed**2
    deepest = 0.0
    while r.contacts == 0.0 and r.time < 5.0:
        r.step(gear=0)
        deepest = max(deepest, r.contact_depth)
    assert r.contacts == 1.0
    assert deepest > 0.0
    for _ in range(60):  # within the episode
        r.step(gear=0)
        assert max(abs(c) for c in corners(r)) < 10.0 + 0.12
        assert 0.5 * r.car.body.mass * (r.vx**2 + r.vy**2) < before
    assert r.contacts == 1.0


def test_scraping_along_is_one_contact_and_a_second_hit_another(rig, roads):
    r = rig("hatchback", roads.straight(half_width=3.0, runoff=0.0), x=100.0, yaw=0.03)
    r.roll_at(20.0)
    r.run(2.5, steer=0.15, throttle=0.3)
    assert r.contacts == 1.0
    for _ in range(2000):
        r.step(steer=-0.3 if r.yaw > -0.3 else 0.0, throttle=0.5)
        if r.contacts > 1.0:
            break
    assert r.contacts == 2.0
    assert r.y < 0.0  # the other wall


def test_no_wall_no_contact(rig, roads):
    r = rig("gt3", roads.straight())
    r.run(3.0, throttle=1.0)
    assert (r.contacts, r.contact_depth) == (0.0, 0.0)


def test_a_bend_s_walls_hold_too(rig, roads):
    r = rig("gt3", roads.circle(60.0, half_width=5.0, runoff=2.0), y=-60.0)
    r.roll_at(40.0)
    for _ in range(333 * 4):
        r.step(throttle=1.0)
        assert abs(r.offset) < 7.0
    assert r.contacts >= 1.0
