"""A controller of plain sockets and `struct`: an independent check of the host's bytes."""

from struct import pack, unpack

from trailbrake.sims.beamng import spec
from trailbrake.transport.rendezvous import lookup_port, publish_port
from trailbrake.transport.udp import UdpSocket


class PlainController:
    """A controller that encodes with `struct` alone, independent of our codec."""

    def __init__(self, session, vehicle=0):
        self.session, self.udp = session, UdpSocket()
        publish_port(session.folder, spec.controller_rendezvous_name(vehicle), self.udp.port)
        self.host_address = ("127.0.0.1", lookup_port(session.folder, spec.simulator_rendezvous_name(vehicle)))

    def send(self, message_id, *slots, raw=b""):
        values = [message_id, *slots]
        self.udp.send(raw or pack("<64d", *values, *[0.0] * (64 - len(values))), self.host_address)

    def message(self):
        """Tick until a message arrives; return its 111 doubles."""
        for _ in range(20_000):
            got = self.udp.receive()
            if got is not None:
                assert len(got[0]) == 888
                return unpack("<111d", got[0])
            self.session.tick()
        raise AssertionError("no message")

    def close(self):
        (self.session.folder / f"{spec.controller_rendezvous_name(0)}.port").unlink(missing_ok=True)
        self.udp.close()
