import published_figures
import pytest
from published_figures import FIGURES, PAGE, deviation, update_page

from trailbrake.cars.car_library import load_car

pytestmark = pytest.mark.slow
KNOWN = {("gt3", "peak braking, from 250 km/h, g"), ("sports_awd", "0 to 97 km/h, s")}  # docs/validation.md says why


def test_the_page_has_the_figures_of_today():
    page = PAGE.read_text("utf-8")
    assert update_page(page) == page, f"run python {published_figures.__file__}"


def test_cars_are_within_a_tenth_of_what_is_published_but_for_what_the_page_names():
    off = {(figure.car, figure.what) for figure in FIGURES
           if abs(deviation(figure, figure.ours(load_car(figure.car)))) > 0.1}  # fmt: skip
    assert off == KNOWN


def test_every_source_is_listed():
    page = PAGE.read_text("utf-8")
    cited = {number for figure in FIGURES for number in figure.sources.split(", ")}
    assert all(f"\n{number}. " in page for number in cited)
