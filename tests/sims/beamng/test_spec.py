import pytest

from trailbrake.errors import UsageError
from trailbrake.sims.beamng.host import Host
from trailbrake.sims.beamng.spec import ServeOptions


@pytest.mark.parametrize(("options", "said"), [
    ({"simulink_time": 0.0001}, "--simulink-time"),
    ({"ping_time": -1.0}, "--ping-time"), ({"vehicles": 0}, "--vehicles"),
    ({"burst": 0}, "--burst"), ({"frame_rate": 0.0}, "--frame-rate"), ({"generation": 2}, "--contract"),
    ({"loss": 2.0}, "--loss"), ({"block_timeout": -1.0}, "--block-timeout"),
])  # fmt: skip
def test_options_out_of_range_are_one_line(options, said):
    with pytest.raises(UsageError, match=said):
        ServeOptions(**options)


def test_an_answer_is_due_a_window_after_its_message():
    assert Host.answer_delay(ServeOptions()) == pytest.approx(0.005)
    assert Host.answer_delay(ServeOptions(simulink_time=0.002, ping_time=0.005)) == pytest.approx(0.006)
    assert Host.answer_delay(ServeOptions(window="beamng")) == 0.0
