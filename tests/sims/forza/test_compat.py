"""The generator of the first drivers, against a plain socket that sends."""

import threading

import pytest
from helpers.ports import free_udp_port

from trailbrake.errors import UsageError
from trailbrake.sims.forza import codec
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, Sled
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.compat import return_vals
from trailbrake.transport.udp import UdpSocket


def datagram(i, race_on=1):
    return codec.encode_packet(
        Packet(Sled(race_on, 100 + i, angular_velocity_y=0.5), HorizonBlock(),
               Dash(speed=float(i), cur_race_time=1.0 + i / 60, norm_driving_line=-7), tail=b"\0")
    )  # fmt: skip


@pytest.fixture
def port():
    return free_udp_port()


@pytest.fixture
def send(port):
    """Keeps sending the datagrams of a list, one more each time, until the test is over."""
    udp, stop = UdpSocket(), threading.Event()
    thread = None

    def start(make):
        nonlocal thread

        def work():
            i = 0
            while not stop.wait(0.001):
                udp.send(make(i), ("127.0.0.1", port))
                i += 1

        thread = threading.Thread(target=work)
        thread.start()

    yield start
    stop.set()
    thread.join()
    udp.close()


def test_it_yields_the_list_of_the_yaml(tmp_path, port, send):
    yaml = tmp_path / "y.yaml"
    yaml.write_text(f"port: {port}\npacket_format: fh4\nparameter_list: [norm_driving_line, speed, is_race_on]\n")
    send(lambda i: datagram(i, race_on=i % 2))
    values = return_vals(1, "dash", str(yaml))  # the file's port goes before the argument
    rows = [next(values) for _ in range(5)]
    values.close()
    assert all(row[0] == -7 and row[2] == 1 for row in rows)  # packets of a pause are skipped
    speeds = [row[1] for row in rows]
    assert speeds == sorted(set(speeds))
    assert all(type(speed) is float for speed in speeds)  # one of the first drivers asserts it


def test_every_packet_can_be_kept(port, send):
    send(datagram)
    values = return_vals(port, "fh4", None, latest=False)
    rows = [next(values) for _ in range(10)]
    values.close()
    assert len(rows[0]) == 85
    stamps = [row[1] for row in rows]
    assert stamps == list(range(stamps[0], stamps[0] + 10))


def test_a_slow_consumer_gets_the_newest_by_default(port):
    udp = UdpSocket()
    values = return_vals(port, "fh4", None)
    first = threading.Timer(0.05, lambda: udp.send(datagram(0), ("127.0.0.1", port)))
    first.start()
    next(values)
    for i in range(1, 50):
        udp.send(datagram(i), ("127.0.0.1", port))
    assert next(values)[1] == 149
    values.close()
    udp.close()


def test_a_missing_file_is_one_line(port):
    with pytest.raises(UsageError, match="cannot read the settings"):
        next(return_vals(port))
