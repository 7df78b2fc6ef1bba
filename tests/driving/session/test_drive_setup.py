"""What a drive's setup makes of simulator, options and driver: defaults, `--host` options, the stick of a pad."""

import pytest

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.drive_setup import choose_camera, embedded_options, make_setup, select_signals
from trailbrake.errors import UsageError
from trailbrake.sims.registry import find
from trailbrake.transport.capture.camera_option import CameraOption


class Stick:
    NEEDS = frozenset()
    STICK = True
    reset = act = print


def test_track_and_car_are_those_of_the_embedded_world():
    setup = make_setup(find("udacity"), DriveFlags(sim="udacity", seed=4).make_spec())
    world = setup.world
    assert (world.track, world.car, world.seed) == ("lakeside", "hatchback", 4)
    assert setup.live == find("udacity").live_options()


def test_a_driver_by_the_stick_gets_a_stick_unless_the_user_says_otherwise():
    options, forza = DriveFlags(sim="forza"), find("forza")
    assert make_setup(forza, options.make_spec()).serve.steering == "linear"
    assert make_setup(forza, options.make_spec(), drivers=[Stick()]).serve.steering == "pad"
    linear = DriveFlags(sim="forza", host=("steering=linear",))
    assert make_setup(forza, linear.make_spec(), drivers=[Stick()]).serve.steering == "linear"


def test_host_options_are_converted():
    serve = embedded_options(find("forza"), ("rate=120", "ndl-wrap=true"), None)
    assert (serve.rate, serve.ndl_wrap) == (120.0, True)


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("rat=120", "--host rat=120: no such option of the embedded simulator, expected KEY=VALUE; did you mean rate"),
        ("rate", "--host rate: no such option"),
        ("rate=fast", "--host rate=fast: Expected `float`"),
    ],
)
def test_a_wrong_host_option_is_one_line(pair, said):
    with pytest.raises(UsageError) as caught:
        make_setup(find("forza"), DriveFlags(host=(pair,)).make_spec())
    assert str(caught.value).startswith(said)


def test_a_live_drive_has_no_host_options():
    assert make_setup(find("forza"), DriveFlags(live=True, host=("rat=120",)).make_spec()).serve is None


def test_the_wire_s_own_delay_is_that_of_the_embedded_host():
    beamng = find("beamng")
    assert make_setup(beamng, DriveFlags(sim="beamng").make_spec()).wire_delay == pytest.approx(0.005)
    assert make_setup(beamng, DriveFlags(sim="beamng", host=("window=beamng",)).make_spec()).wire_delay == 0.0
    assert make_setup(beamng, DriveFlags(sim="beamng", live=True).make_spec()).wire_delay == 0.0
    assert make_setup(find("forza"), DriveFlags(sim="forza").make_spec()).wire_delay == 0.0


def test_signals_of_the_driver_and_of_the_user_come_in_declared_order():
    class Needs:
        NEEDS = frozenset({"speed", "forza.wheel_fl.rumble"})

        def reset(self, course):
            pass

        def act(self, state, dt):
            pass

    forza = find("forza")
    live = forza.live_options()

    def names(*patterns, driver=None):
        return [signal.name for signal in select_signals(forza, live, patterns, [driver] if driver else ())]

    assert names() == []
    assert names("forza.power,forza.boost") == names("forza.boost", "forza.power") == ["forza.power", "forza.boost"]
    assert names("forza.boost", driver=Needs()) == ["forza.boost", "forza.wheel_fl.rumble"]
    with pytest.raises(UsageError, match=r"--signals: unknown signal, .*got forza.bost; did you mean forza.boost"):
        names("forza.bost")


def test_a_camera_is_for_wires_without_one():
    assert choose_camera("", find("trend"), is_real_time=False) is None
    for name in ("trend", "udacity", "donkeycar"):
        with pytest.raises(UsageError, match=f"{name} has a camera of its own; leave --camera out"):
            choose_camera("world", find(name), is_real_time=False)
    for name in ("forza", "assetto", "beamng"):
        assert choose_camera("world", find(name), is_real_time=False) == CameraOption("world")


def test_a_window_needs_real_time():
    with pytest.raises(UsageError, match="a window shows real time"):
        choose_camera("window:x", find("forza"), is_real_time=False)
    assert choose_camera("window:x", find("forza"), is_real_time=True).title == "x"
