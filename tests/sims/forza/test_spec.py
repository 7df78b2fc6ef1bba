import math

import pytest

from trailbrake.errors import UsageError
from trailbrake.sims.forza import spec
from trailbrake.sims.forza.host import Host
from trailbrake.sims.registry import find


@pytest.mark.parametrize("rate", [19.0, 241.0, math.nan])
def test_other_rates_are_refused(rate):
    with pytest.raises(UsageError, match="--rate"):
        spec.host_period(spec.ServeOptions(rate=rate))


def test_a_stick_driver_gets_the_games_steering_and_others_the_lock():
    assert spec.embedded_options(spec.LiveOptions(), 1).steering == "linear"
    assert Host.stick_options(spec.embedded_options(spec.LiveOptions(), 1)).steering == "pad"
    with pytest.raises(UsageError, match="--cars"):
        spec.embedded_options(spec.LiveOptions(), 2)


def test_options_of_watch():
    assert find("forza").watch_options(spec.LiveOptions(pad="uinput")).pad == "none"
