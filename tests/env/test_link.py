import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import trailbrake.env.gym  # noqa: F401 - registers
from trailbrake.env.domain_randomisation import Start, Vary
from trailbrake.env.link import LinkRace
from trailbrake.env.options import RaceOptions
from trailbrake.errors import UsageError
from trailbrake.observe.features import Feature
from trailbrake.tracks.road_columns import RoadColumn

STANDING = Start(speed=(0.0, 0.0))
ALL = ("motion", "pedals", "asked", "drivetrain", "lane", "bends", "edges", "wheels_on_track")


@pytest.mark.slow
def test_a_drive_through_the_wire_is_the_drive_of_the_batch():
    from trailbrake.env.batch import RaceBatch

    # Three of the wire's samples a step; the batch makes the same steps of the world without it.
    period = 3.0 / 333.0
    options = RaceOptions(observe=ALL, start=Start(anywhere=False, offset=0.0, heading=0.0, speed=(0.0, 0.0)),
                          period=period, substeps=9, ends=(), rewards=("progress",))  # fmt: skip
    link, batch = LinkRace(options), RaceBatch(options)
    try:
        a, b = link.reset(3), batch.reset(3)
        rng = np.random.default_rng(1)
        far = 0.0
        for k in range(330):
            if k % 30 == 0:
                action = np.array([[0.1 * rng.uniform(-1.0, 1.0), rng.uniform(0.3, 1.0)]])
            a, reward, ended = link.step(action)
            b, twin, _ = batch.step(action)
            far += twin[0]
            assert ended[0] == 0
            # The wire takes an action a sample later and tells single precision.
            close = np.abs(a - b)
            assert np.median(close) < 0.01
            assert close[0, :3].max() < 0.06, (k, a[0, :3], b[0, :3])
        assert far > 2.0
        assert reward[0] == pytest.approx(twin[0], abs=0.02)
        assert link._observer.feature_value(Feature.DISTANCE) == pytest.approx(
            batch.feature_values(Feature.DISTANCE)[0], abs=1.0
        )
    finally:
        link.close()


@pytest.mark.slow
def test_episodes_begin_anew_where_the_car_was_put():
    link = LinkRace(RaceOptions(start=STANDING, observe=("lane", "motion"), period=0.012, substeps=12))
    try:
        places = []
        for seed in (1, 2, 1):
            out = link.reset(seed)
            assert link._observer.feature_value(Feature.TIME) == 0.0
            assert abs(out[0, 5]) < 0.01, "at rest"
            places.append(link._observer.feature_value(Feature.S))
            for _ in range(40):
                out, reward, _ = link.step([[0.0, 1.0]])
            assert out[0, 5] > 0.0
            assert reward[0] > 0.0
        assert places[0] == pytest.approx(places[2], abs=0.1)
        assert abs(places[0] - places[1]) > 5.0
        with pytest.raises(UsageError, match="no such action"):
            link.step([[0.0, 2.0]])
    finally:
        link.close()


@pytest.mark.slow
@pytest.mark.parametrize("sim", ["beamng", "forza"])
def test_a_wire_without_a_command_for_it_begins_anew_at_the_start_line(sim):
    link = LinkRace(RaceOptions(period=0.02, rewards=("progress",), ends=("slow",)), sim=sim)
    try:
        for _ in range(2):
            link.reset(1)
            start = link.state
            assert start.speed < 0.1
            for _ in range(50):  # several samples a step: BeamNG waits for an answer to each
                _, reward, _ = link.step([[0.0, 1.0]])
            assert link.state.x**2 + link.state.y**2 > start.x**2 + start.y**2 + 1.0
            assert reward[0] > 0.0
    finally:
        link.close()


@pytest.mark.slow
def test_a_live_episode_begins_on_the_road_where_no_command_can_put_the_car_there():
    link = LinkRace(RaceOptions(period=0.02, rewards=("progress",), ends=("slow",)), sim="forza")
    try:
        link.reset(1)
        plant, road = link._connection.plant, link.tracks[0].road
        x, y, _, yaw = road.points(100.0, 10.0)[0].tolist()
        plant.batch.place_cars(0, x, y, yaw + 1.5)
        link._connection.plant = None  # as of a game
        link.reset()
        _, offset, row = road.locate(link.state.x, link.state.y)
        assert abs(offset) < road.table[row, RoadColumn.WIDTH_LEFT]
        assert link.state.speed < 1.0
    finally:
        link.close()


@pytest.mark.slow
def test_gymnasium_finds_nothing_wrong_with_the_wire():
    env = gymnasium.make("trailbrake/Link-v0", disable_env_checker=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="no window")
        check_env(env.unwrapped)
    env.close()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: LinkRace(RaceOptions(cars=2)), "^cars"),
        (lambda: LinkRace(RaceOptions(vary=Vary(delay=1))), "^vary"),
        (lambda: LinkRace(RaceOptions(observe=("scan64",))), "states hold no scans"),
        (lambda: LinkRace(sim="asseto"), "did you mean assetto"),
        (
            lambda: LinkRace(sim="beamng"),
            r"rewards: .*contact needs contacts; choose others, as rewards=\('progress', ",
        ),
        (lambda: LinkRace().step([[0.0, 0.0]]), "call reset"),
        (lambda: LinkRace(live_options={"pad": "none"}), "live options: assetto has no option pad, expected car_index"),
    ],
)
def test_what_a_wire_cannot_is_named(make, said):
    with pytest.raises(UsageError, match=said):
        make()


@pytest.mark.slow
def test_a_camera_beside_the_wire_reaches_a_learner():
    env = gymnasium.make("trailbrake/Link-v0", disable_env_checker=True, camera="world,size=64x48")
    env.reset(seed=1)
    env.step(env.action_space.sample())
    assert env.unwrapped.core.state.image.pixels.shape == (48, 64, 3)
    env.close()
