"""`check_simulator` over all simulators, and over files with one fault each: one line that names file and part."""

import pytest
from helpers.line_simulator import write_simulator

import trailbrake
from trailbrake.sims.registry import simulator_names


@pytest.mark.parametrize("name", simulator_names())
def test_the_simulators_of_the_package_are_in_order(name):
    assert trailbrake.check_simulator(name, drive=False) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", simulator_names())
def test_they_drive_in_the_embedded_world(name):
    assert trailbrake.check_simulator(name) == []


def test_a_file_of_the_user_s_is_checked_and_driven(tmp_path):
    assert trailbrake.check_simulator(str(write_simulator(tmp_path))) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    def release(self):\n        pass\n", "", ["lines_sim.py:Link, link: lacks release"]),
        ("    def read_counters(self):\n        return {}\n", "", ["lines_sim.py:Host, host: lacks read_counters"]),
        ("def __init__(self, plant, options, *, doors=None)", "def __init__(self, plant)", ["Host, host: too many"]),
        ("(self, options, *, doors=None, idle=None)", "(self, options)", ["Link, link: got an unexpected"]),
        ("SUPPLIES, ACCEPTS = SUPPLIES, ACCEPTS", "SUPPLIES, ACCEPTS = SUPPLIES, SUPPLIES", ["Link, link: ACCEPTS"]),
        ("        rate: 1/s.\n", "", ["serve_options: the docstring of Serve has no line for rate"]),
        ("1.0 / options.rate", "0.0", ["period: expected above 0 s"]),
        ('title="Lines"', 'title="Lines", cars=lambda options: 0', ["cars: expected 1 or more"]),
        ('title="Lines"', 'title="Lines", pace=lambda options: "slow"', ["pace: expected real or max"]),
        ('title="Lines"', 'title="Lines", default_driver="lane_sign"', ["default_driver: driver lane_sign needs"]),
        ('title="Lines"', 'title="Lines", tools={"doctor": print}', ["doctor: expected a DoctorTool"]),
        ('title="Lines"', 'title="Lines", tools={"doctr": print}', ["tools: no such tool, got 'doctr'; did"]),
        ('title="Lines"', 'title="Lines", doctor=print', ["unexpected keyword argument 'doctor'"]),
        ('title="Lines"', 'title="Lines", embedded_options=lambda live, cars: 3', ["embedded_options: expected Serve"]),
        ('title="Lines"', 'title="Lines", options_for_car=lambda live, car: 3', ["options_for_car: expected Live"]),
        ("WIRE.append(self.plant.car_state(0))", "pass", ["embedded world: step: the simulator went silent"]),
        ("        self.plant = plant\n", "        pass\n", ["a drive in the embedded world raised AttributeError"]),
    ],
)  # fmt: skip
def test_a_fault_is_a_line_with_file_and_part(tmp_path, old, new, said):
    problems = trailbrake.check_simulator(str(write_simulator(tmp_path, old, new)))
    assert len(problems) == len(said)
    for problem, words in zip(problems, said, strict=True):
        assert words in problem
        assert "\n" not in problem


def test_what_cannot_be_found_is_said(tmp_path):
    assert "no such simulator" in trailbrake.check_simulator("nowhere")[0]
    assert trailbrake.check_simulator(str(tmp_path / "none.py")) == [
        f"{tmp_path / 'none.py'}: no such simulator file; give the path of a Python file"
    ]
