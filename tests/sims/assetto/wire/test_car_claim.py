"""Taking a car of our host, on a clock of the test's own."""

import pytest

from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto import codec, spec
from trailbrake.state import Controls


def test_a_second_writer_of_ours_is_refused(session):
    session.connect()
    with pytest.raises(
        SimulatorError, match=r"CarControls0.v0: car 0 is driven already by another trailbrake; "
    ) as error:
        session.connect()
    assert "\n" not in str(error.value)
    session.connect(car=1)


def test_a_strange_second_writer_is_counted(session):
    link = session.connect()
    session.drive(link, Controls(), 5)
    assert link.foreign_writes == 0
    with (session.folder / spec.controls_name(0)).open("r+b") as page:
        page.write(codec.encode_controls(codec.CarControls(gas=0.9)))
    session.drive(link, Controls(), 5)
    assert link.foreign_writes == 1
    assert session.plant.bodies[0].controls.throttle == 0.0


def test_a_stranger_who_goes_on_writing_is_said_once(session, capsys):
    link = session.connect()
    for _ in range(8):
        with (session.folder / spec.controls_name(0)).open("r+b") as page:
            page.write(codec.encode_controls(codec.CarControls(gas=0.9)))
        session.drive(link, Controls(), 2)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("assetto: another program writes the controls of car 0 too, at ")
    assert line.endswith("CarControls0.v0: the newest ones count, stop one of the two")


def test_a_stranger_whom_a_rehearsal_has_seen_is_counted_once(session):
    link = session.connect()
    session.drive(link, Controls(), 5)
    stranger = codec.encode_controls(codec.CarControls(gas=0.9))
    with (session.folder / spec.controls_name(0)).open("r+b") as page:
        page.write(stranger)
    for _ in range(3):
        link.rehearse(Controls(throttle=0.75))
    session.drive(link, Controls(), 5)
    assert link.foreign_writes == 1
