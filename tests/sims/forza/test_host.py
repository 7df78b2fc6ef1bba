"""The host in front of strangers: plain sockets that speak the protocol page."""

import itertools
import math

import numpy as np
import pytest

from trailbrake import roles
from trailbrake.cars.car_library import load_car
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.forza import spec
from trailbrake.sims.forza.host import AutomaticReverse, Host, PadSteering
from trailbrake.state import CarState, Controls, Pose, SimCommand
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track
from trailbrake.transport import pad_report
from trailbrake.transport.pad_report import PadButton, PadReport
from trailbrake.transport.udp import UdpSocket
from trailbrake.world.plant import World

FULL = pad_report.encode_report(pad_report.driving_report(0.0, 1.0))
NOTHING = pad_report.encode_report(pad_report.NEUTRAL)


def button(b):
    return pad_report.encode_report(PadReport(buttons=int(b)))


def test_it_plays_its_role(serve):
    assert isinstance(serve().host, roles.Host)


def test_a_flooded_port_does_not_hold_a_tick(serve):
    served = serve()
    taken = 0

    class Endless:
        def receive(self):
            nonlocal taken
            taken += 1
            return FULL, ("127.0.0.1", 1)

        def close(self):
            """Nothing is open."""

    served.host._pad_socket.close()
    served.host._pad_socket = Endless()
    (data,) = served.tick()
    assert len(data) == 324
    assert taken == 128


def test_a_button_acts_once_a_tick(serve):
    served = serve()
    served.tick(10)
    for _ in range(50):
        served.press(button(PadButton.Y))
        served.press(NOTHING)
    served.tick()
    assert served.host.read_counters()["rewinds"] == 1
    for _ in range(50):
        served.press(button(PadButton.START))
        served.press(NOTHING)
    (packet,) = served.packets()
    assert packet.sled.is_race_on == 0


def test_garbage_of_any_length_moves_nothing_that_is_not_finite(serve):
    served, rng = serve(), np.random.default_rng(7)
    for _ in range(120):
        for size in (0, 1, 11, 12, 12, 13, 1400, 9000):
            served.press(rng.bytes(size))
        for packet in served.packets():
            position = packet.dash.position_x, packet.dash.position_y, packet.dash.position_z, packet.dash.speed
            assert all(map(math.isfinite, position))
    assert served.host.read_counters()["rejected"] == 120 * 6


def test_two_pads_are_said_once(serve, capsys):
    served, other = serve(), UdpSocket()
    for _ in range(3):
        served.press(FULL)
        served.tick()
        other.send(NOTHING, ("127.0.0.1", served.host.pad_port))
        served.tick()
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "two clients" in line]
    ports = sorted([served.pad.port, other.port])
    assert line == (
        f"forza: two clients send controls, 127.0.0.1:{ports[0]} and 127.0.0.1:{ports[1]}; the newest message counts: "
        "stop one of them"
    )
    other.close()


def test_a_pad_that_sends_each_report_from_a_port_of_its_own_is_one_client(serve, capsys):
    served = serve()
    others = [UdpSocket() for _ in range(6)]
    for udp in others:
        udp.send(FULL, ("127.0.0.1", served.host.pad_port))
        served.tick()
        udp.close()
    assert "two clients" not in capsys.readouterr().err


@pytest.mark.parametrize(("form", "size"), [("sled", 232), ("dash", 311), ("fh", 324), ("fh4", 324), ("fm2023", 331)])
def test_every_format_has_its_length_and_one_datagram_a_tick(serve, form, size):
    assert [len(data) for data in serve(format=form).tick(5)] == [size] * 5


@pytest.mark.parametrize("rate", [20.0, 30.0, 60.0, 144.0, 240.0])
def test_both_clocks_go_with_the_rate(serve, rate):
    packets = serve(rate=rate).packets(50)
    race = np.array([p.dash.cur_race_time for p in packets])
    assert np.diff(race) == pytest.approx(1.0 / rate, rel=1e-4)
    assert [p.sled.timestamp_ms for p in packets] == [int((i + 1) * 1000.0 / rate + 1e-6) for i in range(50)]


def test_the_session_clock_wraps(serve):
    packets = serve(clock=4294967290).packets(3)
    assert [p.sled.timestamp_ms for p in packets] == [10, 27, 44]


def test_fh5_has_a_clock_in_steps_of_the_system_tick(serve):
    stamps = {p.sled.timestamp_ms for p in serve(preset="fh5", rate=144.0).packets(100)}
    assert all(abs(ms - round(ms / 15.625) * 15.625) < 1.0 for ms in stamps)
    assert len(stamps) < 50


def test_a_pad_drives_the_car_and_shows_in_the_echo(serve):
    served = serve()
    served.press(pad_report.encode_report(pad_report.driving_report(-0.5, 1.0)))
    packets = served.packets(50)
    last = packets[-1]
    assert last.dash.accel == 255
    assert last.dash.steer == -64
    assert last.dash.speed > 1.0
    assert last.dash.speed == pytest.approx(served.plant.car_state(0).speed, rel=0.01)
    assert last.sled.angular_velocity_y < 0.0  # turning left
    assert last.dash.dist_traveled > 0.5
    assert packets[0].dash.gear == 1


def test_what_arrives_is_where_the_car_is(serve):
    """The movement between packets is the velocity in the packets, in Forza's own frame (section 3.1)."""
    served = serve(rate=120.0, steering="linear")
    packets = []
    for i in range(60):  # five seconds; the pad must not fall silent
        served.press(pad_report.encode_report(pad_report.driving_report(0.06 if i > 40 else 0.0, 1.0)))
        packets += served.packets(10)
    time = np.array([p.dash.cur_race_time for p in packets], np.float64)
    place = np.array([(p.dash.position_x, p.dash.position_y, p.dash.position_z) for p in packets], np.float64)
    v = np.array([(p.sled.velocity_x, p.sled.velocity_y, p.sled.velocity_z) for p in packets], np.float64)
    yaw, pitch, roll = (np.array([getattr(p.sled, n) for p in packets], np.float64) for n in ("yaw", "pitch", "roll"))
    # Left-handed: roll turns X toward Y, then pitch Y toward Z, then yaw Z toward X.
    a, b = v[:, 0] * np.cos(roll) - v[:, 1] * np.sin(roll), v[:, 0] * np.sin(roll) + v[:, 1] * np.cos(roll)
    b, c = b * np.cos(pitch) - v[:, 2] * np.sin(pitch), b * np.sin(pitch) + v[:, 2] * np.cos(pitch)
    world = np.stack([np.cos(yaw) * a + np.sin(yaw) * c, b, -np.sin(yaw) * a + np.cos(yaw) * c], 1)
    moved = np.diff(place, axis=0) / np.diff(time)[:, None]
    error = np.abs(moved - 0.5 * (world[1:] + world[:-1]))
    assert packets[-1].dash.speed > 10.0
    assert np.median(np.hypot(error[:, 0], error[:, 2])) < 0.02
    # The embedded world gives velocities along the road and angles of the leaning body: at 17 m/s a lean of a degree.
    assert np.median(error[:, 1]) < 0.4
    turn = np.gradient(np.unwrap(yaw), time)
    rate = np.array([p.sled.angular_velocity_y for p in packets])
    assert np.corrcoef(turn[400:], rate[400:])[0, 1] > 0.98
    assert rate[-1] > 0.05  # a right turn is positive
    assert packets[-1].sled.acceleration_x > 0.5
    assert packets[-1].sled.suspension_travel_meters_FL > packets[-1].sled.suspension_travel_meters_FR


def test_reports_of_another_length_are_dropped_and_counted_and_the_newest_wins(serve):
    served = serve()
    for data in (b"", b"x" * 11, b"x" * 13, NOTHING, FULL):
        served.press(data)
    assert served.packets()[-1].dash.accel > 200
    counts = served.host.read_counters()
    assert (counts["messages_in"], counts["rejected"], counts["superseded"]) == (5, 3, 1)


def test_a_silent_pad_is_let_go_after_a_second(serve):
    served = serve()
    served.press(FULL)
    assert served.packets(58)[-1].dash.accel == 255
    assert served.packets(4)[-1].dash.accel == 0
    assert served.host.read_counters()["pad_silent"] == 1
    served.press(FULL)
    assert served.packets(2)[-1].dash.accel == 255


@pytest.mark.parametrize("preset", ["fm7", "fh5"])
def test_start_pauses_with_zero_packets_and_goes_on(serve, preset):
    served = serve(preset=preset)
    served.press(FULL)
    before = served.packets(40)[-1]
    served.press(button(PadButton.START))
    paused = served.packets(10)
    assert [p.sled.is_race_on for p in paused] == [0] * 10
    assert all(not any(p.dash) for p in paused)
    assert paused[-1].sled.timestamp_ms > before.sled.timestamp_ms
    served.press(NOTHING)
    served.press(button(PadButton.START))
    after = served.packets()[-1]
    assert after.dash.cur_race_time == pytest.approx(before.dash.cur_race_time + 1 / 60, abs=1e-5)
    assert after.dash.position_z == pytest.approx(before.dash.position_z, abs=2.0)


def test_fh6_is_silent_in_a_pause(serve):
    served = serve(preset="fh6")
    served.press(button(PadButton.START))
    assert served.tick(10) == []


def test_fh6_tells_gear_11_while_it_shifts_and_others_never_do(serve):
    for preset, expected in (("fh6", True), ("fm7", False)):
        served = serve(preset=preset)
        gears = []
        for _ in range(40):
            served.press(FULL)
            gears += [p.dash.gear for p in served.packets(10)]
        assert (11 in gears) is expected
        assert 2 in gears
        if expected:  # between two gears, and shorter than half a second
            first = gears.index(11)
            assert gears[first - 1] == 1
            assert gears[first : first + 30].index(2) <= 30


def test_rewind_puts_place_and_race_clock_back_while_the_session_goes_on(serve):
    served = serve()
    for _ in range(30):
        served.press(FULL)
        last = served.packets(10)[-1]
    served.press(button(PadButton.Y))
    back = served.packets()[-1]
    assert back.dash.cur_race_time == pytest.approx(last.dash.cur_race_time - 3.0, abs=0.05)
    assert back.sled.timestamp_ms == pytest.approx(last.sled.timestamp_ms + 17, abs=1)
    assert back.dash.dist_traveled < last.dash.dist_traveled
    assert math.dist((back.dash.position_x, back.dash.position_z), (last.dash.position_x, last.dash.position_z)) > 5.0
    assert served.host.read_counters()["rewinds"] == 1


def test_teleport_restart_and_pause(serve):
    served = serve()
    served.packets(30)
    served.host.apply_command(SimCommand(teleport=Pose(150.0, 3.0, 0.0, 0.2)))
    there = served.packets()[-1]
    assert (there.dash.position_z, -there.dash.position_x) == pytest.approx((150.0, 3.0), abs=0.1)
    assert there.sled.yaw == pytest.approx(-0.2, abs=0.02)
    served.host.apply_command(SimCommand(restart=True))
    assert served.packets()[-1].dash.cur_race_time == pytest.approx(1 / 60, abs=1e-4)
    served.host.apply_command(SimCommand(pause=True))
    assert served.packets()[-1].sled.is_race_on == 0
    served.packets(10)
    served.host.apply_command(SimCommand(restart=True, pause=False))
    again = served.packets()[-1]
    assert (again.sled.is_race_on, again.dash.lap_no) == (1, 0)
    assert again.dash.cur_race_time == pytest.approx(1 / 60, abs=1e-4)


class Circling:
    """A plant whose car is where it is put, and whose lap clock a test sets."""

    def __init__(self, track, car, period):
        self.track, self.cars, self.period = track, [car], period
        self.steps, self.lap_time, self.place = 0, 0.0, (0.0, 0.0, 0.0)

    def step(self, controls):
        self.steps += 1
        self.lap_time += self.period
        self.controls = controls[0]

    def car_state(self, car):
        x, y, yaw = self.place
        return CarState(time=self.steps * self.period, x=x, y=y, z=0.0, yaw=yaw, speed=0.0, lap_time=self.lap_time,
                        brake=0.0)  # fmt: skip

    def execute_command(self, car, command):
        self.lap_time = 0.0

    def laps(self, car):
        return []


@pytest.fixture
def circling():
    from trailbrake.cars.car_library import load_car
    from trailbrake.tracks.track_library import load_track

    return Circling(load_track("hartmoor"), load_car("hatchback"), 1 / 60)


def test_laps_are_counted_with_their_times(serve, circling):
    served = serve(circling)
    assert served.packets(120)[-1].dash.lap_no == 0
    circling.lap_time = 0.004 - 1 / 60  # the line was crossed within the next step
    p = served.packets()[-1].dash
    assert p.lap_no == 1
    assert p.last_lap_time == pytest.approx(121 / 60 - 0.004, abs=1e-5)
    served.host.apply_command(SimCommand(to_pits=True))
    assert served.packets()[-1].dash.lap_no == 1


def test_a_rewind_over_the_line_takes_the_lap_back(serve, circling):
    served, period = serve(circling), 1 / 60
    served.packets(120)
    circling.lap_time = -period  # the line is crossed at the end of the next step
    assert served.packets()[-1].dash.lap_no == 1
    served.packets(30)
    served.press(button(PadButton.Y))
    back = served.packets()[-1].dash  # 3 s before, as far as there was a race, and one step on
    assert (back.lap_no, back.last_lap_time) == (0, 0.0)
    assert back.cur_lap_time == pytest.approx(back.cur_race_time, abs=1e-5)
    served.packets(59)
    circling.lap_time = -period
    again = served.packets()[-1].dash
    assert (again.lap_no, again.last_lap_time) == (1, pytest.approx(again.cur_race_time, abs=1e-5))
    assert again.cur_lap_time == 0.0


@pytest.mark.parametrize("share", [-1.5, -1.0, -0.4, 0.0, 0.4, 1.0, 1.5])
@pytest.mark.parametrize("wrap", [False, True])
def test_the_driving_line_is_positive_left_of_the_centre(serve, circling, share, wrap):
    served = serve(circling, ndl_wrap=wrap)
    road = circling.track.road
    row = road.table[500]
    left, right = row[RoadColumn.WIDTH_LEFT], row[RoadColumn.WIDTH_RIGHT]
    offset = 0.5 * (left - right) + share * 0.5 * (left + right)
    circling.place = (row[RoadColumn.X] - offset * math.sin(row[RoadColumn.YAW]),
                      row[RoadColumn.Y] + offset * math.cos(row[RoadColumn.YAW]), row[RoadColumn.YAW])  # fmt: skip
    ndl = served.packets()[-1].dash.norm_driving_line
    wanted = round(127 * share)
    if wrap:
        assert ndl == pytest.approx((wanted + 128) % 256 - 128, abs=1)
    else:
        assert ndl == pytest.approx(max(-127, min(127, wanted)), abs=1)


def test_off_is_as_in_free_roam(serve, circling):
    served = serve(circling, ndl="off")
    circling.place = (0.0, 3.0, 0.0)
    assert served.packets()[-1].dash.norm_driving_line == 0


def test_faults_are_made_and_counted(serve):
    served = serve(loss=0.1, duplicate=0.05, reorder=0.05, jitter=0.001, rate=100.0)
    served.tick(1000)
    counts = served.host.read_counters()
    assert counts["lost"] == pytest.approx(100, abs=30)
    assert counts["duplicated"] == pytest.approx(45, abs=25)
    assert counts["reordered"] == pytest.approx(45, abs=25)
    assert counts["messages_out"] == pytest.approx(1000 - counts["lost"] + counts["duplicated"], abs=3)


def test_more_than_one_receiver(circling):

    a, b = UdpSocket(), UdpSocket()
    options = spec.ServeOptions(send=f"127.0.0.1:{a.port}, 127.0.0.1:{b.port}", pad_port=0)
    host = Host(circling, options)
    host.open(0.0)
    host.tick(0.1)
    assert a.receive()[0] == b.receive()[0]
    for thing in (host, a, b):
        thing.close()


def test_a_second_host_on_the_pad_s_port_is_refused(serve):
    served = serve()
    port = served.host.pad_port
    second = Host(served.plant, spec.ServeOptions(pad_port=port))
    with pytest.raises(SimulatorError, match=f"cannot listen on 127.0.0.1:{port}.*choose another port"):
        second.open(0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"send": "nowhere"}, "--send"), ({"loss": 1.5}, "--loss"), ({"dead_zone": 1.0}, "--dead-zone")],
)
def test_wrong_options_are_one_line(options, message, circling):
    with pytest.raises(UsageError, match=message):
        Host(circling, spec.ServeOptions(**options))


def test_another_period_is_refused(circling):
    host = Host(circling, spec.ServeOptions(rate=120.0))
    with pytest.raises(SimulatorError, match="period"):
        host.open(0.0)


def test_reverse_by_a_held_brake(serve):
    served = serve()
    for _ in range(20):
        served.press(pad_report.encode_report(pad_report.driving_report(0.0, 0.0, 1.0)))
        last = served.packets(10)[-1]
    assert last.dash.gear == 0
    assert last.sled.velocity_z < -1.0


def test_a_linear_stick_is_the_share_of_lock(serve, circling):
    served = serve(circling, steering="linear")
    served.press(pad_report.encode_report(pad_report.driving_report(0.5, 0.0)))
    served.tick()
    assert circling.controls == Controls(steer=pytest.approx(-0.5, abs=1e-4), gear=None)


def test_boost_builds_up_with_the_throttle_and_fuel_is_the_plant_s(serve):
    game = serve()
    packets = []
    for _ in range(60):
        game.press(FULL)
        packets += game.packets()
    boost = [packet.dash.boost for packet in packets]
    assert min(boost) >= -14.8
    assert boost[-1] > 4.0  # psi above the atmosphere, the hatchback's turbocharger
    assert all(later >= earlier - 0.2 for earlier, later in itertools.pairwise(boost[10:]))
    assert packets[-1].dash.fuel == pytest.approx(0.5, abs=0.01)


def test_a_host_that_waits_for_a_pad_says_so_once(serve, capsys):
    game = serve()
    game.tick(round(5.5 * 60))
    game.tick(20 * 60)
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        f"forza: no pad report has come to 127.0.0.1:0 yet; telemetry goes to 127.0.0.1:{game.receiver.port}"
    )
    game.press(NOTHING)
    game.tick(600)
    assert capsys.readouterr().err == ""


def test_what_is_no_pad_report_is_named_once(serve, capsys):
    game = serve()
    for _ in range(3):
        game.press(b"steer left")
        game.tick()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("forza: a message that cannot be read from 127.0.0.1:")
    assert "12 bytes" in line


def test_at_walking_pace_a_full_stick_is_full_lock_and_at_speed_far_less():
    steering = PadSteering(load_car("hatchback"), fades=True)
    assert steering.max_steer(1.0) == 1.0
    most = [steering.max_steer(v) for v in (10.0, 20.0, 40.0, 60.0)]
    assert most == sorted(most, reverse=True)
    assert 0.0 < most[-1] < 0.2


def test_slow_enough_the_limit_is_the_turning_circle():
    car = load_car("hatchback")
    steering = PadSteering(car, fades=True)
    geometry = 8.0 * car.body.wheelbase / 8.0**2 / car.steering.max_angle  # 8 m/s^2 at 8 m/s
    assert steering.max_steer(8.0) == pytest.approx(geometry, rel=0.15)  # the tyres' part is small there


def test_a_full_stick_takes_a_quarter_of_a_second():
    steering = PadSteering(load_car("hatchback"), fades=True)
    turned = [steering.filter_stick(1.0, 1.0, 0.05) for _ in range(6)]
    assert turned == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0, 1.0])
    assert steering.filter_stick(0.0, 1.0, 0.05) == pytest.approx(0.8)


def test_linear_is_the_stick_itself_at_once():
    steering = PadSteering(load_car("f1"), fades=False)
    assert [steering.filter_stick(x, 80.0, 1e-3) for x in (1.0, -0.3)] == [1.0, -0.3]


@pytest.mark.parametrize(("car", "speed"), [("hatchback", 18.0), ("sports_awd", 30.0)])
def test_a_full_stick_at_speed_asks_the_car_for_about_eight(car, speed):
    """The car itself is the judge: it knows nothing of the formula."""
    params = load_car(car)
    world = World(load_track("proving_ground"), [params], period=1.0 / 60.0)
    steering = PadSteering(params, fades=True)
    world.batch.place_cars(0, 50.0, 0.0, 0.0, speed)
    lateral = []
    for i in range(120):
        state = world.car_state(0)
        world.step([Controls(steer=steering.filter_stick(0.9, state.speed, 1.0 / 60.0), throttle=0.35)])
        if i > 80:
            lateral.append(abs(state.acceleration_y))
    assert 5.5 < sum(lateral) / len(lateral) < 9.0


def held(direction, throttle, brake, speed, seconds):
    pedals = (math.nan, math.nan)
    for _ in range(round(seconds / 0.05)):
        pedals = direction.map_triggers(throttle, brake, speed, 0.05)
    return pedals


def test_a_brake_held_at_rest_is_reverse_and_the_triggers_change_places():
    direction = AutomaticReverse()
    assert held(direction, 0.0, 1.0, 20.0, 2.0) == (0.0, 1.0)  # braking from speed is braking
    assert not direction.in_reverse
    assert held(direction, 0.0, 0.8, 0.0, 0.4) == (0.8, 0.0)
    assert direction.in_reverse
    assert held(direction, 0.7, 0.0, 3.0, 1.0) == (0.0, 0.7)  # rolling backwards the right trigger brakes
    assert held(direction, 0.7, 0.0, 0.1, 0.4) == (0.7, 0.0)  # and then drives forwards
    assert not direction.in_reverse


def test_a_short_touch_changes_nothing():
    direction = AutomaticReverse()
    for _ in range(10):
        held(direction, 0.0, 1.0, 0.0, 0.2)
        held(direction, 0.0, 0.0, 0.0, 0.1)
    assert not direction.in_reverse
