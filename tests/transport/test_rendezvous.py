import socket

from trailbrake.transport import rendezvous
from trailbrake.transport.rendezvous import find_own_address


def test_it_is_an_address_of_this_machine():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.bind((find_own_address(), 0))


def test_the_way_to_this_machine_itself_is_the_loopback():
    assert find_own_address(("127.0.0.1", 9)) == "127.0.0.1"


def test_without_a_way_outside_it_is_the_address_of_the_name(monkeypatch):
    def refuse(probe, target):
        raise OSError("unreachable")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "gethostbyname", lambda name: "10.1.2.3" if name == socket.gethostname() else "")
    assert find_own_address() == "10.1.2.3"


def test_who_has_published_is_found_until_withdrawn(tmp_path):
    assert rendezvous.lookup_port(tmp_path, "host") is None
    rendezvous.publish_port(tmp_path, "host", 40123)
    rendezvous.publish_port(tmp_path, "client", 40124)
    assert rendezvous.lookup_port(tmp_path, "host") == 40123
    rendezvous.publish_port(tmp_path, "host", 40125)
    assert rendezvous.lookup_port(tmp_path, "host") == 40125
    rendezvous.withdraw_port(tmp_path, "host")
    rendezvous.withdraw_port(tmp_path, "host")
    assert rendezvous.lookup_port(tmp_path, "host") is None
    assert rendezvous.lookup_port(tmp_path, "client") == 40124
    assert [p.name for p in tmp_path.iterdir()] == ["client.port"]


def test_what_is_no_port_is_nobody(tmp_path):
    (tmp_path / "host.port").write_text("soon")
    assert rendezvous.lookup_port(tmp_path, "host") is None
