"""This machine's address is one that it can listen at, and it is the one on the way to the target."""

import socket

from trailbrake.system.own_address import find_own_address


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
