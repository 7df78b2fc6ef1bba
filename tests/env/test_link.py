import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import trailbrake.env.gym  # noqa: F401 - registers
from trailbrake.env.link import LinkRace
from trailbrake.env.options import RaceOptions, Start, Vary
from trailbrake.errors import UsageError
from trailbrake.observe.columns import Seen

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
        assert link._observer.value(Seen.DISTANCE) == pytest.approx(batch.seen(Seen.DISTANCE)[0], abs=1.0)
    finally:
        link.close()


@pytest.mark.slow
def test_episodes_begin_anew_where_the_car_was_put():
    link = LinkRace(RaceOptions(start=STANDING, observe=("lane", "motion"), period=0.012, substeps=12))
    try:
        places = []
        for seed in (1, 2, 1):
            out = link.reset(seed)
            assert link._observer.value(Seen.TIME) == 0.0
            assert abs(out[0, 5]) < 0.01, "at rest"
            places.append(link._observer.value(Seen.S))
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
def test_gymnasium_finds_nothing_wrong_with_the_wire():
    env = gymnasium.make("trailbrake/Link-v0", disable_env_checker=True)
    check_env(env.unwrapped)
    env.close()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: LinkRace(RaceOptions(cars=2)), "^cars"),
        (lambda: LinkRace(RaceOptions(vary=Vary(delay=1))), "^vary"),
        (lambda: LinkRace(RaceOptions(observe=("scan64",))), "states hold no scans"),
        (lambda: LinkRace(sim="asseto"), "did you mean assetto"),
        (lambda: LinkRace().step([[0.0, 0.0]]), "call reset"),
    ],
)
def test_what_a_wire_cannot_is_named(make, said):
    with pytest.raises(UsageError, match=said):
        make()
