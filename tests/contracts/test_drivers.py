"""One checker over every driver that ships."""

import pytest

from trailbrake import check_driver
from trailbrake.drivers import load
from trailbrake.sims import registry


@pytest.mark.parametrize("name", load.names())
def test_nothing_is_wrong_with_it(name):
    assert check_driver(name) == []


@pytest.mark.parametrize("name", load.names())
def test_it_says_what_it_is_and_some_simulator_supplies_what_it_needs(name):
    cls = load.driver_class(name)
    assert cls.__doc__
    assert any(cls.NEEDS <= registry.part(sim, "spec").SUPPLIES for sim in registry.names())
