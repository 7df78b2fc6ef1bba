"""Controls that nothing has set, their settings, and the controls that a simulator reports."""

import math
import re
import subprocess
import sys

import pytest

from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.state.controls import SETTINGS, applied_controls, describe_driver_exception, settings_of
from trailbrake.state.fields import declared_quantities


def test_controls_that_say_nothing_do_nothing():
    optional = {"drs", "boost", *SETTINGS}
    assert all(getattr(Controls(), name) == 0.0 for name in set(declared_quantities(Controls)) - optional)
    assert all(math.isnan(getattr(Controls(), name)) for name in optional)
    assert Controls().gear is None
    assert Controls().wheels is None


def test_settings_are_read_in_the_order_of_their_fields():
    assert SETTINGS[0] == "brake_bias"
    controls = Controls(**{name: i / 10 for i, name in enumerate(SETTINGS)})
    assert settings_of(controls) == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    assert all(math.isnan(value) for value in settings_of(Controls()))


def test_applied_controls_are_those_of_the_state():
    state = CarState(steer=-0.5, throttle=0.1, brake=0.2, clutch=0.3, handbrake=0.4, gear=3)
    assert applied_controls(state) == Controls(steer=-0.5, throttle=0.1, brake=0.2, clutch=0.3, handbrake=0.4, gear=3)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Controls(throtle=1.0), "Unexpected keyword argument 'throtle'; did you mean throttle"),
        (lambda: SimCommand(teleprt=None), "did you mean teleport"),
        (lambda: {}["throtle"], "'throtle'$"),
    ],
)
def test_a_misspelled_field_names_the_nearest(make, said):
    with pytest.raises((TypeError, KeyError)) as caught:
        make()
    assert re.search(said, describe_driver_exception(caught.value))


def test_a_prompt_names_the_nearest_field_and_its_controls_are_those_of_drives():
    typed = """from trailbrake import Controls
Controls(throtle=1)
Controls([], [], throttle=1)
import copy, dataclasses, pickle
full = Controls(0.5, throttle=1.0)
print(repr(copy.copy(full)) == repr(full) == repr(pickle.loads(pickle.dumps(full))))
print(dataclasses.replace(full, gear=2).gear, full)
"""
    done = subprocess.run([sys.executable, "-i", "-c", ""], input=typed, capture_output=True, text=True, timeout=60)
    assert "TypeError: Unexpected keyword argument 'throtle'; did you mean throttle" in done.stderr, done.stderr
    assert done.stderr.count("did you mean") == 1
    assert done.stdout.startswith("True\n2 Controls(steer=0.5, throttle=1.0")
    assert type(Controls) is type(CarState)  # no prompt here: the quick constructor
