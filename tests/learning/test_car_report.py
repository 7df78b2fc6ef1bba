"""The report of a learned car as a page."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.known_drives import make_table

from trailbrake.cars.car_library import load_car
from trailbrake.errors import UsageError
from trailbrake.learning.car_report import find_unit, write_car_report
from trailbrake.learning.identification.learned_value import identified, prior

CAR = load_car("gt3")


def learned(**found):
    """Return a learned car with a few numbers, and nothing that could be plotted but its limits."""
    values = {"body.mass": identified(1234.4, 10.0, "wheel <loads>"), "tyre_front.mu_y": prior(1.5, 0.1)}
    empty = SimpleNamespace(
        car=CAR, powertrain=None, tyres=None, braking=None, gearing=None, values=values,
        missing=("brakes: hardly braked",), seconds=270.0, kind=SimpleNamespace(name="touring"),
    )  # fmt: skip
    return SimpleNamespace(**{**vars(empty), **found})


def test_numbers_stand_with_interval_unit_and_source(tmp_path):
    path = write_car_report(tmp_path / "car.html", make_table(50), learned(), ["one.mcap"])
    text = path.read_text("utf-8")
    row = re.search(r"<tr><td[^>]*>body\.mass.*?</tr>", text).group()
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
    assert cells == ["body.mass", "1234", "1215 to 1254", "kg", "identified", "wheel &lt;loads&gt;"]
    assert "brakes: hardly braked" in text
    assert text.count("<figure>") == 1


def test_points_far_from_all_others_do_not_shrink_a_chart(tmp_path):
    rows = np.zeros((400, 6))
    rows[:, 2], rows[:, 5] = np.linspace(-1.0, 1.0, 400), np.linspace(-1.0, 1.0, 400)
    rows[7, 5] = 1e4
    tyres = SimpleNamespace(rows=rows, signal="steer")
    text = write_car_report(tmp_path / "car.html", make_table(50), learned(tyres=tyres), []).read_text("utf-8")
    chart = next(figure for figure in text.split("<figure>") if "along, by across" in figure)
    assert "1000" not in chart
    assert chart.count("<circle") == 399


def test_data_that_are_missing_leave_a_chart_empty(tmp_path):
    rows = np.zeros((40, 6))
    rows[:, 0], rows[:, 5] = np.linspace(-0.1, 0.1, 40), np.nan
    tyres = SimpleNamespace(rows=rows, signal="steer")
    text = write_car_report(tmp_path / "car.html", make_table(50), learned(tyres=tyres), []).read_text("utf-8")
    chart = next(figure for figure in text.split("<figure>") if "along, by across" in figure)
    assert "<circle" not in chart


def test_a_report_that_cannot_be_written_is_one_line(tmp_path):
    with pytest.raises(UsageError):
        write_car_report(tmp_path, make_table(50), learned(), [])


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("body.mass", "kg"), ("engine.torque.4785", "N m"), ("aero.drag_area", "m^2"), ("actuation.delay", "s"),
        ("tyre_front.peak_slip_angle", "rad"), ("brakes.force_over_mass", "m/s^2"),
        ("tyre_front.mu_y", ""), ("gearbox.overall_ratio.2", ""), ("brakes.front_share", ""),
        ("no.such", ""), ("name", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_number_has_the_unit_of_its_declaration(key, unit):
    assert find_unit(key) == unit
