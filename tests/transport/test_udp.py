import pytest

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.transport.udp import MAX_SPIN_S, AdaptiveSpin, SenderGuard, UdpSocket, parse_address

LOCAL = "127.0.0.1"
GAME, OTHER = ("10.0.0.2", 50_000), ("127.0.0.1", 4444)


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


class Paper:
    """Each look takes 1 us; what is waited for is there `after` s of it, and the core is gone for `taken` s at `at`."""

    def __init__(self):
        self.now, self.looks, self.after, self.taken = 0.0, 0, 20e-6, {}

    def clock(self):
        return self.now

    def wait(self, spin):
        """Return whether one wait was over while spinning."""
        began = self.now

        def look():
            self.looks += 1
            self.now += 1e-6 + self.taken.pop(self.looks, 0.0)
            return self.now - began >= self.after

        return spin.spin_until(look)


def test_what_comes_soon_is_always_looked_for():
    paper = Paper()
    spin = AdaptiveSpin(paper.clock)
    assert all(paper.wait(spin) for _ in range(1000))


def test_what_comes_late_is_soon_only_waited_for():
    paper = Paper()
    paper.after = 3e-3  # 333 Hz
    spin = AdaptiveSpin(paper.clock)
    assert not any(paper.wait(spin) for _ in range(10_000))
    # 1 + 3 + 7 + ... waits go by without a spin: 8 of them are in the first 255, then one in 256.
    assert paper.now <= 50 * (MAX_SPIN_S + 2e-6)
    assert paper.looks > 9 * MAX_SPIN_S / 1e-6  # and it is tried anew now and then, or it could never pay again


def test_a_core_that_is_taken_away_ends_the_spin_and_soon_the_spinning():
    paper = Paper()
    spin = AdaptiveSpin(paper.clock)
    assert paper.wait(spin)
    paper.taken = {paper.looks + 5: 4e-3}
    looks = paper.looks
    assert paper.wait(spin)  # meanwhile it has come
    assert paper.looks == looks + 5
    assert not paper.wait(spin)  # distrust: the next one is only waited for
    assert paper.looks == looks + 5
    assert paper.wait(spin)
    # Where a core is taken every 30 looks, as beside a busy program, most waits come to be only waited for.
    paper.taken = dict.fromkeys(range(paper.looks, paper.looks + 100_000, 30), 4e-3)
    assert sum(paper.wait(spin) for _ in range(5000)) < 100


def test_one_that_is_lost_among_many_that_paid_changes_nothing():
    paper = Paper()
    spin = AdaptiveSpin(paper.clock)
    for _ in range(100):
        spun = [paper.wait(spin) for _ in range(30)]
        paper.after = 3e-3
        late = paper.wait(spin)
        paper.after = 20e-6
        assert (all(spun), late) == (True, False)


def test_trust_comes_back():
    paper = Paper()
    spin = AdaptiveSpin(paper.clock)
    paper.after = 3e-3
    for _ in range(3000):
        paper.wait(spin)
    paper.after = 20e-6
    spun = [paper.wait(spin) for _ in range(5000)]
    assert sum(spun) > 3900
    assert all(spun[-3000:])


@pytest.fixture
def said():
    return []


@pytest.fixture
def guard(said):
    made = SenderGuard("toy", said.append)
    for k in range(10):
        assert made.admit(GAME, 0.1 * k)
        made.hold(GAME, 0.1 * k)
    return made


def test_the_first_sender_is_held_and_others_are_counted_and_said_once(guard, said):
    assert not any(guard.admit(OTHER, 0.9 + 0.01 * k) for k in range(20))
    assert guard.admit(GAME, 1.1)
    assert guard.foreign == 20
    assert said == [
        "toy: datagrams of a second sender, 127.0.0.1:4444, are ignored while 10.0.0.2:50000 sends: does a second "
        "simulator run?"
    ]


def test_a_sender_is_held_only_when_its_datagram_could_be_read():
    guard = SenderGuard("toy")
    assert guard.admit(OTHER, 0.0)  # garbage: nobody calls `hold`
    assert guard.admit(GAME, 0.0)
    guard.hold(GAME, 0.0)
    assert guard.sender == GAME


def test_after_half_a_second_of_silence_another_takes_its_place(guard):
    for now in (1.1, 1.3):
        guard.observe(now)
    assert not guard.admit(OTHER, 1.39)
    assert guard.admit(OTHER, 1.41)
    guard.hold(OTHER, 1.41)
    assert not guard.admit(GAME, 1.42)


def test_time_in_which_nobody_looked_is_no_silence(guard):
    assert not guard.admit(OTHER, 31.0)
    for now in (31.2, 31.4):
        guard.observe(now)
    assert guard.admit(OTHER, 31.6)


def test_a_clock_that_is_set_back_holds_nobody_for_ever(guard):
    guard.observe(-3600.0)
    for now in (-3599.8, -3599.6, -3599.4):
        guard.observe(now)
    assert guard.admit(OTHER, -3599.3)
