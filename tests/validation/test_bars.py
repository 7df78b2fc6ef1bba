"""Every bar of the validation (docs/figures.md) holds."""

import pytest
from world_validation.cases import closed_forms, independent_model, reference_lap

CLOSED = {f"{make.__module__}.{make.__name__}": make for make in closed_forms()}


def hold(case):
    assert case.checks
    wrong = [f"{check.what}: {check.truth} | {check.world} | {check.difference:.2%} > {check.bar:.2%}"
             for check in case.checks if not check.holds]  # fmt: skip
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLOSED)
def test_the_world_follows_the_closed_form(name):
    hold(CLOSED[name]())


@pytest.mark.slow
def test_the_world_carries_the_loads_of_the_published_lap(shared):
    hold(reference_lap(shared))


@pytest.mark.slow
def test_the_world_agrees_with_the_independent_model():
    hold(independent_model(has_remarks=False))
