import math

import numpy as np
import pytest
from helpers.environments import gentle, made

from trailbrake.cars.car_library import load_car
from trailbrake.env.batch import RaceBatch
from trailbrake.env.domain_randomisation import Start, Vary
from trailbrake.env.options import RaceOptions
from trailbrake.errors import UsageError
from trailbrake.observe.features import Feature
from trailbrake.observe.parts import FeaturePart
from trailbrake.observe.rewards import End, Reward
from trailbrake.observe.state_observer import StateObserver
from trailbrake.state import Controls, Pose, SimCommand
from trailbrake.tracks.track_library import load_track
from trailbrake.world.batch import count_substeps
from trailbrake.world.plant import World
from trailbrake.world.row_layout import StateRow

EVERY = ("motion", "pedals", "asked", "drivetrain", "tyres", "wheels_on_track", "lane", "bends", "edges")


def test_a_policy_sees_the_same_through_states_as_through_the_batch():
    # The same drive twice: in a batch, and in a Plant whose CarState an Observer looks at.
    substeps = count_substeps(0.01)
    start = Start(speed=(0.0, 0.0))
    batch, out = made(observe=EVERY, start=start, substeps=substeps, rewards=("progress", "contact"))
    x, y, yaw = (float(batch.feature_values(row)[0]) for row in (Feature.X, Feature.Y, Feature.YAW))
    track, car = load_track("pinegrove"), load_car("gt3")
    world = World(track, [car], period=0.01)
    s, offset, _ = track.road.locate(x, y)
    world.execute_command(0, SimCommand(teleport=Pose(x, y, track.road.point(s, offset)[2], yaw)))
    observer = StateObserver(batch.task, track.road, car)
    twin = observer.observe(world.car_state(0))
    rng = np.random.default_rng(5)
    for k in range(400):
        if k % 20 == 0:
            action = np.array([[0.3 * rng.uniform(-1.0, 1.0), rng.uniform(0.2, 1.0)]])
        out, reward, _ = batch.step(action)
        controls = observer.decode_action(action[0])
        world.step([Controls(steer=controls.steer, throttle=controls.throttle, brake=controls.brake)])
        twin = observer.observe(world.car_state(0))
        # States hold the centre of mass, which stands above the road: a bank and the body's roll move it a little.
        assert out[0] == pytest.approx(twin, abs=0.03), [
            (name, a, b) for name, a, b in zip(batch.task.number_names, out[0], twin, strict=True) if abs(a - b) > 0.03
        ]
        assert reward[0] == pytest.approx(observer.compute_reward()[0], abs=5e-3)
    assert out[0, 0] > 0.1, "the car never moved"


def test_the_same_seed_is_the_same_drive_however_it_is_shared_out():
    drives = []
    for threads in (1, 2):
        batch, out = made(512, seed=7, threads=threads, vary=Vary(mass=(0.9, 1.1), delay=3, noise=(0.0, 0.05)))
        rng = np.random.default_rng(0)
        seen = [out]
        for _ in range(40):
            out, reward, ended = batch.step(gentle(rng, batch))
            batch.restart(np.flatnonzero(ended), out)
            seen += [out, reward, ended]
        again = batch.reset(7)
        assert np.array_equal(again, seen[0])
        batch.close()
        drives.append(seen)
    for a, b in zip(*drives, strict=True):
        assert np.array_equal(a, b)


def test_progress_adds_up_to_the_way_along_the_road():
    batch, _ = made(64, ends=(), rewards=(Reward("metres", "", Feature.PROGRESS, 1.0),))
    s, length, rng = batch.feature_values(Feature.S), batch.tracks[0].road.length, np.random.default_rng(0)
    total = np.zeros(64)
    for _ in range(150):
        total += batch.step(gentle(rng, batch))[1]
    moved = batch.feature_values(Feature.S) - s
    moved -= length * np.round(moved / length)
    assert total == pytest.approx(moved, abs=1e-6)
    assert batch.feature_values(Feature.DISTANCE) == pytest.approx(moved, abs=1e-6)
    assert np.abs(moved).max() > 10.0


def test_actions_come_late_by_the_delay_that_was_drawn():
    delay = 6
    batch, _ = made(40, seed=2, vary=Vary(delay=delay), observe=("pedals",), start=Start(speed=(0.0, 0.0)), ends=())
    delays = batch._road_worlds[0][0]._queue.delays
    assert set(delays.tolist()) == set(range(delay + 1))
    hard = np.tile([0.0, -1.0], (40, 1))
    first = np.full(40, -1)
    for k in range(delay + 3):
        out, _, _ = batch.step(hard)
        first[(first < 0) & (out[:, 2] > 0.0)] = k
    assert first.tolist() == delays.tolist()


def test_noise_has_the_spread_that_was_drawn_and_none_is_none():
    quiet, a = made(2000, seed=3)
    noisy, b = made(2000, seed=3, vary=Vary(noise=(0.05, 0.05)))
    off = (b - a)[:, 5:7].ravel()  # sine and cosine of the heading: well within their bounds
    # 4000 normal numbers: their spread is good to 1.1 %, their mean to 0.0008.
    assert np.std(off) == pytest.approx(0.05, rel=0.05)
    assert abs(off.mean()) < 0.004
    assert not np.array_equal(noisy.reset(4), b)
    assert quiet.step(np.zeros((2000, 2)))[0].shape == a.shape


def test_cars_that_vary_do():
    batch, _ = made(300, seed=1, vary=Vary(mass=(0.8, 1.2), grip=(0.7, 1.0)), ends=())
    from trailbrake.world.row_layout import ParamRow

    mass = batch._road_worlds[0][0].batch.get_param(ParamRow.MASS) / load_car("gt3").body.mass
    assert 0.8 <= mass.min() < 0.85
    assert 1.15 < mass.max() <= 1.2


def test_cars_begin_where_they_are_asked_to():
    batch, _ = made(500, seed=4, start=Start(offset=0.5, heading=0.2, speed=(3.0, 9.0)))
    speed, heading = batch.feature_values(Feature.VELOCITY_X), batch.feature_values(Feature.HEADING)
    heading -= 2.0 * math.pi * np.round(heading / (2.0 * math.pi))
    assert 3.0 <= speed.min() < 4.0 < 8.0 < speed.max() <= 9.0
    assert 0.15 < np.abs(heading).max() <= 0.2 + 1e-6
    assert (batch.feature_values(Feature.WHEELS_OFF) == 0.0).all()
    spread = np.histogram(batch.feature_values(Feature.S), 10, (0.0, batch.tracks[0].road.length))[0]
    assert spread.min() > 25, "50 each on average, a standard deviation of 7"
    line, _ = made(5, start=Start(anywhere=False, offset=0.0, heading=0.0, speed=(0.0, 0.0)))
    s = line.feature_values(Feature.S)
    assert np.minimum(s, line.tracks[0].road.length - s) == pytest.approx(0.0, abs=1e-6)


def test_a_restarted_learner_is_as_new_and_the_others_go_on():
    batch, _ = made(20, ends=())
    rng = np.random.default_rng(0)
    for _ in range(30):
        out, _, _ = batch.step(gentle(rng, batch))
    before = out.copy()
    batch.restart(np.array([3, 17]), out)
    others = np.delete(np.arange(20), [3, 17])
    assert np.array_equal(out[others], before[others])
    assert (batch.feature_values(Feature.TIME)[[3, 17]] == 0.0).all()
    assert batch.feature_values(Feature.TIME)[others] == pytest.approx(0.3)
    assert not np.array_equal(out[3], before[3])
    out, reward, _ = batch.step(gentle(rng, batch))
    assert np.abs(reward).max() < 0.1 * 100.0 * 0.01 + 0.5 * 0.04 + 1e-6, "nobody jumped"


def test_time_and_walls_end_episodes_by_name():
    batch, _ = made(8, limit=0.05, ends=())
    for _ in range(4):
        assert not batch.step(np.zeros((8, 2)))[2].any()
    ended = batch.step(np.zeros((8, 2)))[2]
    assert (ended == -1).all()
    assert batch.end_name(-1) == "limit"
    batch, _ = made(8, ends=("contact", "lap"), start=Start(heading=0.0, speed=(20.0, 20.0)))
    seen = np.zeros(8, int)
    for _ in range(800):
        ended = batch.step(np.tile([1.0, 1.0], (8, 1)))[2]
        seen = np.where(seen, seen, ended)
    assert {batch.end_name(code) for code in seen} == {"contact"}


def test_several_random_roads_are_shared_evenly_and_change_with_reset():
    batch, out = made(10, track="random", roads=3)
    assert len({track.name for track in batch.tracks}) == 3
    assert [hi - lo for _, lo, hi in batch._road_worlds] == [3, 3, 4]
    assert out.shape == (10, batch.task.width)
    names = [track.name for track in batch.tracks]
    batch.step(np.zeros((10, 2)))
    batch.reset()
    assert names != [track.name for track in batch.tracks]
    batch.reset(0)
    assert names == [track.name for track in batch.tracks]


def beyond_walls(batch):
    """Which cars' middles are beyond a wall, by the rows of the road beside them, which are 1.5 m apart."""
    found = []
    for field, lo, hi in batch._road_worlds:
        row = field.track.road.table[(batch.feature_values(Feature.S)[lo:hi] / field.track.road.spacing).astype(int)]
        offset = batch.feature_values(Feature.OFFSET)[lo:hi]
        left, right = row[:, 7] + row[:, 9] + 0.5, row[:, 8] + row[:, 10] + 0.5
        found += [lo + k for k in np.flatnonzero((offset > left) | (offset < -right))]
    return found


@pytest.mark.slow
def test_millions_of_steps_of_a_policy_leave_nothing_undefined_and_no_car_out_of_bounds():
    """A third of the cars twitch, a third hold what they chose for half a second, a third drive on and hardly steer."""
    n, steps = 1024, 2442
    batch, out = made(n, threads=2, ends=(), limit=60.0)
    rng, held = np.random.default_rng(0), np.zeros((n, 2))
    low, high = batch.task.low, batch.task.high
    for step in range(steps):
        actions = rng.uniform(-1.0, 1.0, (n, 2))
        held = actions if step % 50 == 0 else held
        actions[1::3] = held[1::3]
        actions[2::3, 0] *= 0.05
        actions[2::3, 1] = 0.5 + 0.5 * actions[2::3, 1]
        out, reward, ended = batch.step(actions)
        assert np.isfinite(reward).all()
        assert ((out >= low) & (out <= high)).all()  # false for NaN
        batch.restart(np.flatnonzero(ended), out)
        if step % 50 == 0:
            assert beyond_walls(batch) == []
    assert np.isfinite(batch._road_worlds[0][0].batch.get_row(0, StateRow.COUNT)).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"observe": (*EVERY, "pose", "scan64")},
        {"cars": 4, "observe": ("motion", "lane", "rivals", "scan64"), "ends": ()},
        {"track": "random", "roads": 2, "vary": Vary(mass=(0.7, 1.3), grip=(0.4, 1.2), delay=5, noise=(0.0, 0.1))},
        {"track": "serpent_pass", "ends": (), "start": Start(heading=3.0, speed=(0.0, 40.0))},
    ],
    ids=["every part", "four cars", "random roads", "an open road"],
)
def test_wild_driving_gives_numbers_within_bounds_and_no_car_beyond_a_wall(options):
    batch, out = made(256, **options)
    rng = np.random.default_rng(0)
    for _ in range(300):
        out, reward, ended = batch.step(rng.uniform(-1.0, 1.0, (256, 2)))
        assert np.isfinite(reward).all()
        assert ((out >= batch.task.low) & (out <= batch.task.high)).all()
        over = np.flatnonzero(ended)
        batch.restart(over, out)
        assert ((out >= batch.task.low) & (out <= batch.task.high)).all()
        assert beyond_walls(batch) == []


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: RaceBatch(n=0), r"num_envs.: .*1 or more"),
        (lambda: RaceBatch(threads=0), r"^threads: "),
        (lambda: RaceBatch(RaceOptions(cars=3), 4), "a multiple of 3"),
        (lambda: RaceBatch(RaceOptions(track="random", roads=3), 2), "fewer worlds than roads"),
        (lambda: RaceBatch(RaceOptions(roads=2), 2), r"track = \"random\""),
        (lambda: RaceBatch(RaceOptions(observe=("lanes",))), "did you mean lane"),
        (lambda: RaceBatch(RaceOptions(track="pinegrov")), "did you mean pinegrove"),
        (lambda: RaceBatch(RaceOptions(period=math.nan)), "^period"),
        (lambda: RaceBatch(RaceOptions(period="0.1")), "^period: a value of another type, expected float, got '0.1'"),
        (lambda: RaceBatch(RaceOptions(car=3)), r"^car: .* expected str \| tuple\[str, ...\], got 3"),
        (
            lambda: RaceBatch(RaceOptions(observe="lane")),
            r"^observe: .*tuple\[str \| FeaturePart \|.*; \('lane',\) is one$",
        ),
        (lambda: RaceBatch(RaceOptions(cars=2)), r"^number of learners \(n, num_envs\): .*, got 1; .*num_envs=2\)"),
        (lambda: RaceBatch(seed=0).reset(2.5), "^seed: no seed"),
        (lambda: RaceBatch(RaceOptions(vary={"delay": 3})), "^vary: a value of another type, expected Vary"),
        (lambda: RaceBatch(RaceOptions(start=Start(speed=3.0))), r"^start\.speed: .* expected tuple\[float, float\]"),
        (lambda: RaceBatch(RaceOptions(substeps=4)), "period / substeps"),
        (lambda: RaceBatch(RaceOptions(period=0.025, substeps=25)), "a multiple of 3"),
        (lambda: RaceBatch(RaceOptions(limit=0.0)), "^limit"),
        (lambda: RaceBatch(RaceOptions(vary=Vary(mass=(1.2, 0.8)))), r"^vary\.mass"),
        (lambda: RaceBatch(RaceOptions(start=Start(speed=(0.0, math.inf)))), r"^start\.speed"),
        (lambda: RaceBatch().step(np.zeros((1, 2))), "call reset"),
        (lambda: RaceBatch(seed=0).reset(-1), "^seed"),
        (lambda: RaceBatch(seed=-1), "^seed: no seed"),
        (lambda: RaceBatch(seed="a"), "^seed: no seed"),
    ],
)
def test_what_cannot_be_is_named(make, said):
    with pytest.raises(UsageError, match=said):
        make()


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ([[0.0, 0.0], [0.0, math.nan]], r"action\[1\]: an action that is no number.*\[0.0, nan\]"),
        ([[0.0, 1.0001], [0.0, 0.0]], r"action\[0\]: an action outside its range"),
        ([[0.0, math.inf], [0.0, 0.0]], r"action\[0\]: an action outside its range"),
        ([0.0, 0.0], r"action: actions do not fit the learners, expected \(2, 2\), got \(2,\)"),
    ],
)
def test_bad_actions_are_named_and_nothing_moves(action, said):
    batch, _ = made(2)
    s = batch.feature_values(Feature.S)
    with pytest.raises(UsageError, match=said):
        batch.step(action)
    assert np.array_equal(batch.feature_values(Feature.S), s)
    assert (batch.feature_values(Feature.COMMANDED_BRAKE) == 0.0).all()


def test_parts_rewards_and_ends_of_one_s_own():
    mine = FeaturePart("mine", "height on the road", (Feature.OFFSET, Feature.S))
    left = End("left", "", Feature.OFFSET, -100.0, 7.0)
    batch, out = made(3, observe=(mine,), rewards=(Reward("alive", "", Feature.ALIVE, 2.0),), ends=(left,))
    assert out.shape == (3, 2)
    _, reward, ended = batch.step(np.zeros((3, 2)))
    assert reward == pytest.approx([9.0] * 3)
    assert batch.end_name(int(ended[0])) == "left"


def test_worlds_are_spread_over_several_named_tracks():
    batch = RaceBatch(RaceOptions(track=("pinegrove", "hartmoor", "gen:4"), observe=("lane", "plan")), 7)
    seen = batch.reset(3)
    assert [track.name for track in batch.tracks] == ["pinegrove", "hartmoor", "gen:4"]
    assert np.isfinite(seen).all()
    assert np.array_equal(batch.reset(3), seen)  # the roads stay, and the seed gives the same starts
    with pytest.raises(UsageError, match="fewer worlds than roads"):
        RaceBatch(RaceOptions(track=("pinegrove", "hartmoor")), 1)
    for wrong in ((), ("pinegrove", "random")):
        with pytest.raises(UsageError, match="no such tracks"):
            RaceBatch(RaceOptions(track=wrong), 4)


def test_several_cars_are_spread_over_the_tracks():
    still = Start(speed=(0.0, 0.0))
    batch = RaceBatch(RaceOptions(track="pinegrove", car=("gt3", "kart", "hatchback"), start=still), 7)
    batch.reset(0)
    assert [track.name for track in batch.tracks] == ["pinegrove"] * 3
    assert [car.body.mass for car in batch.cars] == [load_car(name).body.mass for name in ("gt3", "kart", "hatchback")]
    for _ in range(200):
        batch.step(np.tile([0.0, 1.0], (7, 1)))
    gained = batch.feature_values(Feature.VELOCITY_X)
    assert gained[:2].min() > 1.3 * gained[4:].max() > 3.0  # full throttle from rest: a gt3 against a hatchback
    two = RaceBatch(RaceOptions(track=("pinegrove", "hartmoor", "gen:4"), car=("gt3", "kart")), 3)
    two.reset(0)
    assert [car.body.mass for car in two.cars] == [load_car(name).body.mass for name in ("gt3", "kart", "gt3")]
    with pytest.raises(UsageError, match="2 at least, a world of 1 for each road and car"):
        RaceBatch(RaceOptions(car=("gt3", "kart")), 1)
    with pytest.raises(UsageError, match="no such cars"):
        RaceBatch(RaceOptions(car=()), 1)


def test_actions_out_of_range_are_clipped_with_one_warning_where_that_is_wanted():
    batch, _ = made(3, clip_actions=True)
    same, _ = made(3)
    wild = np.array([[3.0, 0.2], [-7.0, -1.5], [0.1, 0.3]])
    with pytest.warns(UserWarning, match=r"actions outside \(-1.0, -1.0\) .. \(1.0, 1.0\) are clipped") as seen:
        out = batch.step(wild)[0]
    assert len(seen) == 1
    assert np.array_equal(out, same.step(np.clip(wild, -1.0, 1.0))[0])
    assert wild[0, 0] == 3.0, "the caller's array stays"
    batch.step(wild)  # warnings are errors here: it says so once
    with pytest.raises(UsageError, match="no number"):
        batch.step(wild * np.nan)


def test_a_fine_steer_turns_the_wheel_less():
    fine, _ = made(1, action="fine_steer_pedal")
    coarse, _ = made(1)
    for _ in range(5):
        a, _, _ = fine.step([[0.5, 0.2]])
        b, _, _ = coarse.step([[0.15, 0.2]])
    assert np.array_equal(a, b)


def test_each_learner_is_seen_with_its_own_world():
    batch, _ = made(6, cars=3)
    views = [batch.view_race(i) for i in range(6)]
    assert len({view.cars[0] for view in views}) == 6
    assert set(views[4].cars) == set(views[3].cars) == set(views[5].cars)
    assert set(views[0].cars).isdisjoint(views[3].cars)
    assert views[5].cars[0][:2] == pytest.approx([batch.feature_values(row)[5] for row in (Feature.X, Feature.Y)])
