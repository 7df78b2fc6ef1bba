"""The doctor's findings on pages made for it, and its test drive in front of our host."""

import pytest
from helpers.assetto.doctor_pages import publish
from helpers.assetto.installs import game

from trailbrake.sims.assetto import doctor
from trailbrake.sims.assetto.doctor import DoctorOptions, examine


def test_two_looks_make_a_report(shm, tmp_path):
    publish(shm)
    root = game(tmp_path / "game")
    found = {f.name: f for f in examine(DoctorOptions(root), wait=lambda seconds: publish(shm, step=166))}
    assert found["switches"].verdict == "problem"
    assert "setup assetto" in found["switches"].advice
    assert found["car"].verdict == "ok"
    assert found["motion"].found.endswith("the car stands: the clutch is pressed")


def test_the_little_drive(session):
    def wait(seconds):
        session.tick(max(1, round(seconds * 333)))

    found = list(doctor.run_test_drive(DoctorOptions(wait=5.0), wait))
    assert [(f.name, f.verdict) for f in found] == [
        ("test: gas", "ok"), ("test: steering", "ok")
    ]  # fmt: skip
    assert session.plant.bodies[0].speed == pytest.approx(0.0, abs=0.1)  # given back standing


def test_the_little_drive_of_a_car_that_is_not_there(shm):
    (found,) = doctor.run_test_drive(DoctorOptions(wait=0.05), lambda seconds: None)
    assert found.verdict == "problem"
    assert "car 0 is not published" in found.found
