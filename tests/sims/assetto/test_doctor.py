"""The doctor's looks, at pages and files made for it, and its little drive in front of our host."""

import os
import sys

import pytest
from installs import game, put
from strangers import let_go, pages

from trailbrake.sims.assetto import acpmf, codec, doctor, spec
from trailbrake.sims.assetto.doctor import Options, examine, files, look
from trailbrake.transport.shm import SharedMemory

on_linux = pytest.mark.skipif(sys.platform == "win32", reason="a page is a file there")


@pytest.fixture
def shm(tmp_path, monkeypatch):
    folder = tmp_path / "shm"
    folder.mkdir()
    monkeypatch.setenv("TRAILBRAKE_SHM", str(folder))
    monkeypatch.setattr(doctor, "game_runs", lambda: True)
    monkeypatch.setattr("trailbrake.sims.assetto.install._documents", lambda game, home: None)
    yield pages(folder)
    let_go()


def publish(shm, step=0):
    (shm / "acpmf_physics").write_bytes(acpmf.encode_physics(acpmf.Physics(packet_id=6660 + step)))
    (shm / "acpmf_graphics").write_bytes(acpmf.encode_graphics(acpmf.Graphics(status=acpmf.LIVE)))
    (shm / "acpmf_static").write_bytes(acpmf.encode_static(acpmf.Static(track="imola", num_cars=1)))
    (shm / spec.car_name(0)).write_bytes(codec.encode_car(codec.CarData(packet_id=5 + step, wheels_valid_surface=15)))
    (shm / spec.controls_name(0)).write_bytes(codec.encode_controls(codec.CarControls(gas=0.5)))


def test_a_look_at_everything(shm):
    publish(shm)
    (shm / spec.SIM_STATE_V1).write_bytes(codec.encode_sim_v1(codec.SimState(pause=1)))
    now = look(SharedMemory(), 0)
    assert now.physics.packet_id == 6660
    assert now.static.track == "imola"
    assert now.car.packet_id == 5
    assert now.controls.gas == 0.5
    assert now.sim.pause == 1
    assert look(SharedMemory(), 1).car is None


@on_linux
def test_pages_that_may_not_be_opened_are_named(shm, monkeypatch):
    publish(shm)
    refuse = os.open

    def denied(path, *arguments, **named):
        if str(path).endswith(("acpmf_static", "Car0.v0")):
            raise PermissionError(13, "Permission denied")
        return refuse(path, *arguments, **named)

    monkeypatch.setattr(os, "open", denied)
    now = look(SharedMemory(), 0)
    assert [os.path.basename(name) for name in now.denied] == ["acpmf_static", spec.car_name(0)]
    assert now.physics is not None


def test_files_of_an_installation(shm, tmp_path):
    publish(shm)
    root = game(tmp_path / "game")
    found = files(root, look(SharedMemory(), 0))
    assert (found.installed, found.patch, found.module, found.custom_ai) == (True, (0, 2, 8), True, False)
    assert not found.surfaces.allows_custom_ai
    assert found.surfaces_changed < 1000.0
    assert found.session_began == 20.0
    assert files(tmp_path / "nowhere", look(SharedMemory(), 0)).installed is False
    bare = game(tmp_path / "bare", patch=False)
    assert files(bare, look(SharedMemory(), 0)).patch is None


def test_the_user_s_own_settings_win(shm, tmp_path, monkeypatch):
    documents = tmp_path / "docs"
    monkeypatch.setattr("trailbrake.sims.assetto.install._documents", lambda game, home: documents)
    put(documents / "cfg" / "extension" / "new_behaviour.ini", b"[CUSTOM_AI]\nENABLED=1\n[BASIC]\nENABLED=0\n")
    found = files(game(tmp_path / "game"), look(SharedMemory(), 0))
    assert (found.module, found.custom_ai) == (False, True)


def test_two_looks_make_a_report(shm, tmp_path):
    publish(shm)
    root = game(tmp_path / "game")
    found = {f.name: f for f in examine(Options(root), wait=lambda seconds: publish(shm, step=166))}
    assert found["switches"].verdict == "problem"
    assert "setup assetto" in found["switches"].advice
    assert found["car"].verdict == "ok"
    assert found["motion"].found.endswith("the car stands: the clutch is pressed")


def test_the_little_drive(session):
    def wait(seconds):
        session.tick(max(1, round(seconds * 333)))

    found = list(doctor.little_drive(Options(wait=5.0), wait))
    assert [(f.name, f.verdict) for f in found] == [
        ("test: gas", "ok"), ("test: steering", "ok")
    ]  # fmt: skip
    assert session.plant.bodies[0].speed == pytest.approx(0.0, abs=0.1)  # given back standing


def test_the_little_drive_of_a_car_that_is_not_there(shm):
    (found,) = doctor.little_drive(Options(wait=0.05), lambda seconds: None)
    assert found.verdict == "problem"
    assert "car 0 is not published" in found.found


def test_the_game_s_process_is_looked_for():
    assert doctor.game_runs() in (True, False)
