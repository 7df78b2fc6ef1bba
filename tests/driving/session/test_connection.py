from helpers.fakes import FakeCar

from trailbrake.driving.session.connection import Connection


def test_a_connection_begins_with_nothing_but_its_links_and_their_pace():
    first, second = FakeCar(), FakeCar()
    one, other = Connection([first, second], first), Connection([second], second)
    assert one.link is first
    assert (one.plant, one.pace, one.guard, one.camera, one.doors) == (None,) * 5
    one.host_report["messages_out"] = 3
    assert other.host_report == other.read_host_counters() == {}
