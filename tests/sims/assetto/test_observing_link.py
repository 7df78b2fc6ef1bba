"""A link that watches: it creates no page, and takes no car; and recordings through it."""

import math
import sys
import threading
from types import SimpleNamespace

import pytest
from helpers.assetto.client_pages import file_of, put
from helpers.assetto.foreign_pages import let_go
from helpers.processes import command

from trailbrake import roles
from trailbrake.driving.session_recording import LinkRecordingSession
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.assetto import spec
from trailbrake.sims.assetto.link import Link, ObservingLink, make_link
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.registry import find
from trailbrake.state import Controls, Phase
from trailbrake.units import RPM


def test_it_sees_the_player_and_leaves_no_trace(told_session):
    session = told_session
    made_by_clients = [spec.controls_name(0), spec.controls_name(1), spec.SIM_STATE_V0, spec.SIM_STATE_V1,
                       spec.DEBUG_LINES]  # fmt: skip
    link = make_link(find("assetto").watch_options(spec.LiveOptions(wait=1.0)), doors=session.folder, idle=session.tick)
    assert isinstance(link, ObservingLink)
    assert isinstance(link, roles.Link)
    link.open(session.now)
    state = link.read(session.now)
    assert state.phase is Phase.DRIVING
    assert state.gear == session.plant.car_state(0).gear
    limiter = session.plant.cars[0].engine.limiter_rpm * RPM
    assert state.max_engine_speed == pytest.approx(limiter, abs=0.06)  # whole rpm
    link.write(Controls(throttle=1.0))
    session.tick(20)
    assert session.host.cars_with_client == [False, False]
    assert not any((session.folder / name).exists() for name in made_by_clients)
    link.close()


def test_a_driver_of_the_players_car_knows_the_limiter_and_that_of_another_does_not(told_session):
    limits = []
    for index in (0, 1):
        link = Link(spec.LiveOptions(wait=5.0, car_index=index), doors=told_session.folder, idle=told_session.tick)
        link.open(told_session.now)
        limits.append(link.read(told_session.now).max_engine_speed)
        link.close()
    assert limits[0] == pytest.approx(told_session.plant.cars[0].engine.limiter_rpm * RPM, abs=0.06)
    assert math.isnan(limits[1])


def test_without_a_game_it_says_so(tmp_path):
    now = 0.0

    def idle():
        nonlocal now
        now += 0.1
        return now

    link = ObservingLink(spec.LiveOptions(wait=1.0), doors=tmp_path, idle=idle)
    with pytest.raises(SimulatorError, match="no game writes its standard pages"):
        link.open(0.0)
    link.close()


def test_the_pages_show_one_car_and_a_drive_takes_it():
    with pytest.raises(UsageError, match="show car 0 alone"):
        ObservingLink(spec.LiveOptions(car_index=2))
    assert isinstance(make_link(spec.LiveOptions()), Link)


def test_samples_laps_and_changes_of_the_session_are_recorded(told_session):
    session = told_session
    with LinkRecordingSession(find("assetto"), spec.RecordOptions()) as recording:
        assert list(recording.record_available(session.now)) == []
        session.tick()
        ((state, last_lap_time),) = recording.record_available(session.now)
        assert math.isnan(last_lap_time)
        assert list(recording.events) == ["live, practice"]
        graphics = session.folder / acpmf.GRAPHICS_NAME
        session.tick(5)
        page = acpmf.decode_graphics(graphics.read_bytes())._replace(completed_laps=1, i_last_time=61234)
        graphics.write_bytes(acpmf.encode_graphics(page).ljust(4096, b"\0"))
        sequence = state.sequence
        ((later, last_lap_time),) = recording.record_available(session.now)
        assert later.sequence == sequence + 5
        assert (later.lap, last_lap_time) == (2.0, 61.234)
        assert recording.summary()["link"]["lost"] == 4
        physics = session.folder / acpmf.PHYSICS_NAME
        page = acpmf.decode_physics(physics.read_bytes())._replace(packet_id=3)
        physics.write_bytes(acpmf.encode_physics(page).ljust(4096, b"\0"))
        assert len(list(recording.record_available(session.now))) == 1
        assert recording.events[-1] == "the session began anew"


def test_it_draws_the_plan_where_the_options_want_it(tmp_path):
    for options, draws in ((spec.LiveOptions(draw=True), True), (spec.LiveOptions(), False)):
        for link in (
            make_link(options, doors=tmp_path),
            make_link(find("assetto").watch_options(options), doors=tmp_path),
        ):
            assert isinstance(link, roles.DrawsPlan)
            assert (link.make_drawing(None) is not None) is draws


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pages are files")
def test_a_drive_of_somebody_else_is_recorded_and_the_car_stays_his(tmp_path):
    """`record --sim assetto --live` in a process of its own, beside a client made of plain files."""
    shm, out = tmp_path / "shm", tmp_path / "out"
    shm.mkdir()
    stopped = threading.Event()
    with command("serve", "assetto", "--track=pinegrove", shm=shm) as served:
        assert f"pages in {shm}" in served.until("ready ")
        page = file_of(SimpleNamespace(folder=shm), spec.controls_name(0))

        def drive():
            while not stopped.wait(0.01):
                put(page, gas=0.5, clutch=1.0, autoshift_active=1)

        threading.Thread(target=drive, daemon=True).start()
        with command("record", "--sim=assetto", "--live", "--seconds=4", f"--out={out}", shm=shm) as record:
            assert record.end() == 0, record.said
        assert "samples; lost" in record.out
        (path,) = out.glob("*.mcap")
        recording = Recording.open(path)
        speed = recording.state["speed"]
        assert len(speed) > 100  # of 1300: a busy machine records fewer
        assert speed.max() > 5.0
        assert (out / path.with_suffix(".html").name).exists()
        with command("watch", "--sim=assetto", "--seconds=1", "--port=0", "--json", shm=shm) as watched:
            assert watched.end() == 0, watched.said
        assert '"samples": ' in watched.out
        stopped.set()
    let_go()
