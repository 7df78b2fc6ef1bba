import math

import pytest

from trailbrake.errors import UsageError
from trailbrake.sims.forza import spec


@pytest.mark.parametrize("rate", [19.0, 241.0, math.nan])
def test_other_rates_are_refused(rate):
    with pytest.raises(UsageError, match="--rate"):
        spec.host_period(spec.ServeOptions(rate=rate))


def test_a_stick_driver_gets_the_games_steering_and_others_the_lock():
    assert spec.embedded_options(spec.LiveOptions(), 1).steering == "linear"
    assert spec.stick_options(spec.embedded_options(spec.LiveOptions(), 1)).steering == "pad"
    with pytest.raises(UsageError, match="--cars"):
        spec.embedded_options(spec.LiveOptions(), 2)


def test_options_of_watch_and_pad_check():
    live = spec.LiveOptions(pad="uinput")
    assert spec.watch_options(live).pad == "none"
    assert spec.pad_options(live, "", "127.0.0.1:9") == spec.LiveOptions(pad="uinput", listen="127.0.0.1:9")
    assert spec.pad_options(live, "none", "") == spec.LiveOptions(pad="none")
