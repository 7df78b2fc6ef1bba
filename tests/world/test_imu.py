import math

import numpy as np
import pytest

from trailbrake.world.imu import disturb, measure, wander

G = 9.80665


def rotation(yaw, pitch, roll):
    """Body to world: about z, then the new y, then the new x."""
    cy, sy, cp, sp, cr, sr = (f(a) for a in (yaw, pitch, roll) for f in (math.cos, math.sin))
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    return about_z @ about_y @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])


def shown(acceleration=(0, 0, 0), rate=(0, 0, 0), change=(0, 0, 0), tilt=(0, 0), mount=(0, 0, 0, 0, 0, 0)):
    out = np.full((1, 6), np.nan)
    values = [np.array([v], np.float64) for v in (acceleration, rate, change, tilt)]
    measure(*values, np.array(mount, np.float64), out, 0, 1)
    return out[0]


def test_a_car_at_rest_shows_gravity_upwards():
    assert shown() == pytest.approx([0, 0, G, 0, 0, 0])
    assert shown(tilt=(-0.1, 0.0))[:3] == pytest.approx([G * math.sin(0.1), 0, G * math.cos(0.1)])  # nose up
    assert shown(tilt=(0.0, 0.2))[:3] == pytest.approx([0, G * math.sin(0.2), G * math.cos(0.2)])  # right side down
    assert shown(tilt=(0.3, -0.2))[:3] == pytest.approx(rotation(0.7, 0.3, -0.2).T @ [0, 0, G])


def test_a_sensor_ahead_of_the_centre_feels_the_turn():
    # Turning left at 2 rad/s, faster and faster: 1.5 m ahead it is pulled backwards (to the centre) and to the left.
    force = shown(rate=(0, 0, 2), change=(0, 0, 3), mount=(1.5, 0, 0, 0, 0, 0))[:3]
    assert force == pytest.approx([-1.5 * 4.0, 1.5 * 3.0, G])
    force = shown(rate=(0, 0, 2), change=(0, 0, 3), mount=(0, 0.5, 0, 0, 0, 0))[:3]
    assert force == pytest.approx([-0.5 * 3.0, -0.5 * 4.0, G])


def test_a_sensor_turned_in_the_body_shows_the_same_vectors_in_its_own_axes():
    angles = (0.4, -0.3, 1.1)
    plain = shown((1, 2, 3), (0.4, 0.5, -0.6), (1, -2, 0.5), (0.1, 0.2), (1, 0.2, -0.3, 0, 0, 0))
    turned = shown((1, 2, 3), (0.4, 0.5, -0.6), (1, -2, 0.5), (0.1, 0.2), (1, 0.2, -0.3, *angles))
    mounted = rotation(*angles)
    assert turned[:3] == pytest.approx(mounted.T @ plain[:3])
    assert turned[3:] == pytest.approx(mounted.T @ [0.4, 0.5, -0.6])


def test_the_force_is_the_second_derivative_of_the_place_less_gravity():
    # A car that spins about a slanted axis while it speeds up: differentiate the sensor's place twice.
    axis, lever = np.array([0.2, -0.5, 0.8]), np.array([1.2, -0.4, 0.3])
    axis /= np.linalg.norm(axis)
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])

    def turn(t):
        angle = 0.9 * t + 0.7 * t * t  # rate 0.9 + 1.4 t
        return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross

    def place(t):
        return np.array([3.0 * t + t * t, -0.5 * t * t, 0.0]) + turn(t) @ lever

    h, t = 1e-4, 0.3
    world = (place(t + h) - 2 * place(t) + place(t - h)) / h**2 + [0, 0, G]
    body = turn(t)
    pitch = -math.asin(body[2, 0])
    roll = math.atan2(body[2, 1], body[2, 2])
    force = shown(body.T @ [2, -1, 0], (0.9 + 1.4 * t) * axis, 1.4 * axis, (pitch, roll), (*lever, 0, 0, 0))
    assert force[:3] == pytest.approx(body.T @ world, abs=1e-5)


def test_noise_has_its_density_and_does_not_depend_on_the_range_of_cars():
    n, dt = 4000, 0.0025
    density = np.array([0.1, 0.2, 0.3, 0.01, 0.02, 0.03])
    bias = np.tile(np.arange(6.0), (n, 1))
    out = np.zeros((n, 6))
    disturb(out, bias, density, dt, 5, 0, 9, 0, n)
    assert out.std(axis=0) == pytest.approx(density / math.sqrt(dt), rel=0.05)
    assert out.mean(axis=0) == pytest.approx(np.arange(6.0), abs=0.5)
    assert np.abs(np.corrcoef(out.T) - np.eye(6)).max() < 0.07
    parts = np.zeros((n, 6))
    disturb(parts, bias, density, dt, 5, 0, 9, 1000, n)
    assert np.all(parts[:1000] == 0.0)
    disturb(parts, bias, density, dt, 5, 0, 9, 0, 1000)
    assert np.array_equal(out, parts)


def test_biases_walk_as_far_as_the_square_root_of_time():
    bias, walk = np.zeros((2000, 6)), np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    for tick in range(25):
        wander(bias, walk, 0.04, 8, 0, tick, 0, 2000)
    assert bias.std(axis=0) == pytest.approx(walk, rel=0.07)  # over 1 s; four standard errors
    noise = np.zeros((2000, 6))
    disturb(noise, np.zeros((2000, 6)), np.ones(6), 1.0, 8, 0, 24, 0, 2000)
    last = bias.copy()
    wander(bias, walk, 1.0, 8, 0, 24, 0, 2000)
    assert abs(np.corrcoef((bias - last)[:, 0], noise[:, 0])[0, 1]) < 0.08  # not the white noise of the same tick
