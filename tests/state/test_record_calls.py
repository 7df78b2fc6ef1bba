"""Records built by position are those that the keywords say."""

import math
import traceback

import pytest

from trailbrake.state import CarState, Controls, Phase, WheelState
from trailbrake.state.fields import compile_record_calls


def build_state(x, load):
    """Return a state; written in another order than that of the fields."""
    wheels = [WheelState(load=load, x=x), WheelState(), WheelState(), WheelState()]
    return CarState(wheels=wheels, yaw=0.5 * x, x=x, time=3.0, phase=Phase.PAUSED, gear=None)


def test_a_compiled_function_builds_the_same_records():
    compiled = compile_record_calls(build_state)
    assert repr(compiled(2.0, 4.0)) == repr(build_state(2.0, 4.0))
    assert math.isnan(compiled(2.0, 4.0).y)
    assert (compiled.__name__, compiled.__doc__) == (build_state.__name__, build_state.__doc__)
    assert compiled.__module__ == __name__


def test_a_compiled_function_sees_its_module_as_it_is(monkeypatch):
    compiled = compile_record_calls(build_state)
    monkeypatch.setitem(globals(), "CarState", lambda *args: args[4])
    assert compiled(7.0, 0.0) == 7.0  # x is the fifth field


@compile_record_calls
def brake(pedal):
    return Controls(brake=pedal / 0)


def test_a_traceback_shows_the_line_that_raised():
    with pytest.raises(ZeroDivisionError) as caught:
        brake(1.0)
    assert "return Controls(brake=pedal / 0)" in "".join(traceback.format_exception(caught.value))


def unknown_field():
    return Controls(steering=1.0)


def default_made_anew():
    return CarState(image=None)


def test_what_cannot_be_by_position_is_refused():
    with pytest.raises(TypeError, match="Controls has no field steering"):
        compile_record_calls(unknown_field)
    with pytest.raises(TypeError, match=r"CarState\.phase must be given"):
        compile_record_calls(default_made_anew)
    gain = 0.5
    with pytest.raises(TypeError, match="variables of another function"):
        compile_record_calls(lambda: Controls(steer=gain))


def test_without_its_source_a_function_stays_as_it_is():
    scope = {"Controls": Controls}
    exec("def made():\n    return Controls(brake=1.0)", scope)
    assert compile_record_calls(scope["made"]) is scope["made"]
