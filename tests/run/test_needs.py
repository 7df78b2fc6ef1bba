"""Whether a driver and a simulator go together."""

import pytest

from trailbrake.errors import UsageError
from trailbrake.run.needs import check_needs


class Driver:
    NEEDS = frozenset({"x", "yaw"})
    reset = act = print


def test_a_driver_goes_with_a_simulator_that_supplies_what_it_needs():
    check_needs(Driver(), "own", "assetto")


def test_a_missing_field_is_named():
    class Seeing(Driver):
        NEEDS = frozenset({"x", "image"})

    with pytest.raises(UsageError, match="driver own needs what assetto does not supply: image"):
        check_needs(Seeing(), "own", "assetto")
