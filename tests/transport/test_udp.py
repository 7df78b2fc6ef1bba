import pytest

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.transport.udp import UdpSocket, parse_address

LOCAL = "127.0.0.1"


@pytest.fixture
def pair():
    a, b = UdpSocket(), UdpSocket()
    yield a, b
    a.close()
    b.close()


def test_a_datagram_arrives_whole_with_its_sender(pair):
    a, b = pair
    assert b.receive() is None
    assert not b.wait_readable(0.0)
    assert a.send(b"\x00hello\xff", (LOCAL, b.port))
    assert b.wait_readable(2.0)
    assert b.receive() == (b"\x00hello\xff", (LOCAL, a.port))
    assert b.receive() is None


@pytest.mark.parametrize("patience", [0.0, 0.001, 2.0])
def test_what_a_wait_has_taken_comes_first_and_once(pair, patience):
    a, b = pair
    for data in (b"one", b"two", b"three"):
        a.send(data, (LOCAL, b.port))
    assert b.wait_readable(2.0)
    assert b.wait_readable(patience), "a second wait takes no second one"
    assert b.receive_data() == b"one"
    assert b.wait_readable(patience)
    assert b.receive() == (b"two", (LOCAL, a.port))
    assert b.receive_data() == b"three"
    assert b.receive_data() is None
    assert not b.wait_readable(min(patience, 0.03))


def test_what_is_expected_need_not_be_there(pair):
    a, b = pair
    assert b.receive_expected() is None
    a.send(b"one", (LOCAL, b.port))
    assert b.wait_readable(2.0)
    assert b.receive_expected() == b"one"
    assert b.receive_expected() is None
    assert b.receive_data() is None


def test_an_empty_datagram_is_one(pair):
    a, b = pair
    a.send(b"", (LOCAL, b.port))
    assert b.wait_readable(2.0)
    assert b.receive() == (b"", (LOCAL, a.port))


def test_the_newest_of_many(pair):
    a, b = pair
    for i in range(5):
        a.send(bytes([i]), (LOCAL, b.port))
    assert b.wait_readable(2.0)
    older = []
    assert b.receive_newest(lambda data, sender: older.append(data))[0] == b"\x04"
    assert older == [b"\x00", b"\x01", b"\x02", b"\x03"]
    assert b.receive_newest() is None


def test_a_receiver_that_has_gone_harms_nobody(pair):
    a, b = pair
    gone = UdpSocket()
    port = gone.port
    gone.close()
    for _ in range(3):
        a.send(b"anybody?", (LOCAL, port))
    assert a.receive() is None
    b.send(b"I am", (LOCAL, a.port))
    assert a.wait_readable(2.0)
    assert a.receive() == (b"I am", (LOCAL, b.port))


def test_what_cannot_be_sent_is_counted(pair):
    a, _ = pair
    assert not a.send(b"x" * 70_000, (LOCAL, 9))  # longer than a datagram can be
    assert a.unsent == 1


def test_a_taken_port_is_said(pair):
    a, _ = pair
    with pytest.raises(SimulatorError, match=rf"--listen: cannot listen on 127.0.0.1:{a.port}: .*another port"):
        UdpSocket((LOCAL, a.port), where="--listen")


def test_addresses():
    assert parse_address("10.0.0.7:2560", where="--send") == ("10.0.0.7", 2560)
    assert parse_address("localhost:1", where="--send") == ("127.0.0.1", 1)


@pytest.mark.parametrize("text", ["", "10.0.0.7", ":2560", "1.2.3.4:", "1.2.3.4:-1", "1.2.3.4:65536", "a:b", "a\0:1"])
def test_what_is_no_address(text):
    with pytest.raises(UsageError, match="--send: no"):
        parse_address(text, where="--send")
