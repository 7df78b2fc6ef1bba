"""Snapshots of pages and files made for them."""

import os
import sys

import pytest
from helpers.assetto.doctor_pages import publish
from helpers.assetto.installs import game, put

from trailbrake.sims.assetto import codec, diagnosis_snapshots, spec
from trailbrake.sims.assetto.diagnosis_snapshots import read_installation_snapshot, read_page_snapshot
from trailbrake.transport.shm import SharedMemory

on_linux = pytest.mark.skipif(sys.platform == "win32", reason="a page is a file there")


def test_a_look_at_everything(shm):
    publish(shm)
    (shm / spec.SIM_STATE_V1).write_bytes(codec.encode_sim_v1(codec.SimState(pause=1)))
    now = read_page_snapshot(SharedMemory(), 0)
    assert now.physics.packet_id == 6660
    assert now.static.track == "imola"
    assert now.car.packet_id == 5
    assert now.controls.gas == 0.5
    assert now.sim.pause == 1
    assert read_page_snapshot(SharedMemory(), 1).car is None


@on_linux
def test_pages_that_may_not_be_opened_are_named(shm, monkeypatch):
    publish(shm)
    refuse = os.open

    def denied(path, *arguments, **named):
        if str(path).endswith(("acpmf_static", "Car0.v0")):
            raise PermissionError(13, "Permission denied")
        return refuse(path, *arguments, **named)

    monkeypatch.setattr(os, "open", denied)
    now = read_page_snapshot(SharedMemory(), 0)
    assert [os.path.basename(name) for name in now.denied] == ["acpmf_static", spec.car_name(0)]
    assert now.physics is not None


def test_files_of_an_installation(shm, tmp_path):
    publish(shm)
    root = game(tmp_path / "game")
    found = read_installation_snapshot(root, read_page_snapshot(SharedMemory(), 0))
    assert (found.installed, found.patch, found.module, found.custom_ai) == (True, (0, 2, 8), True, False)
    assert not found.surfaces.allows_custom_ai
    assert found.surfaces_changed < 1000.0
    assert found.session_began == 20.0
    assert read_installation_snapshot(tmp_path / "nowhere", read_page_snapshot(SharedMemory(), 0)).installed is False
    bare = game(tmp_path / "bare", patch=False)
    assert read_installation_snapshot(bare, read_page_snapshot(SharedMemory(), 0)).patch is None


def test_the_user_s_own_settings_win(shm, tmp_path, monkeypatch):
    documents = tmp_path / "docs"
    monkeypatch.setattr("trailbrake.sims.assetto.install.installation._documents_folder", lambda game, home: documents)
    put(documents / "cfg" / "extension" / "new_behaviour.ini", b"[CUSTOM_AI]\nENABLED=1\n[BASIC]\nENABLED=0\n")
    found = read_installation_snapshot(game(tmp_path / "game"), read_page_snapshot(SharedMemory(), 0))
    assert (found.module, found.custom_ai) == (False, True)


def test_the_game_s_process_is_looked_for():
    assert diagnosis_snapshots.is_game_running() in (True, False)
