"""The eight wires: their transport, the world behind them, and the speed from which a fault begins."""

from dataclasses import dataclass

from faults.doors import LineDoor, UdpDoor
from faults.page_door import PageDoor
from faults.web_door import WebDoor
from faults.wire_views import VIEWS

# A circuit that is nearly all bend, wide enough that a car may leave its line; `serve` and `drive` read it.
RING = """title = "Ring"
closed = true
kerbs = false
width = 12.0
runoff = 15.0
""" + "".join(
    f"[[segment]]\nstraight = {length}\nadjust = true\n" + ("[[segment]]\nradius = 35\nturn = 180.0\n" * turns)
    for length, turns in ((20.0, 1), (40.0, 1), (20.0, 0))
)


@dataclass(frozen=True)
class Wire:
    """One wire.

    Attributes:
        name: of the simulator.
        transport: "pages", "udp", "websocket" or "tcp".
        driver: drives where our client is under test.
        fast: m/s, speed from which a fault begins.
        period: s between two states.
        world: flags of track and car.
    """

    name: str
    transport: str
    driver: str
    fast: float
    period: float
    world: tuple = ("--track", "RING", "--car", "hatchback")

    @property
    def view(self):
        return VIEWS[self.name]

    @property
    def is_stream(self):
        return self.transport in ("websocket", "tcp")

    def make_door(self, folder):
        if self.transport == "pages":
            return PageDoor(self.view, folder)
        if self.transport == "udp":
            return UdpDoor(self.name, self.view)
        return WebDoor(self.view) if self.transport == "websocket" else LineDoor(self.view)

    def world_flags(self, folder):
        if "RING" in self.world:
            (folder / "ring.toml").write_text(RING, encoding="utf-8")
        return [str(folder / "ring.toml") if word == "RING" else word for word in self.world]


WIRES = {
    wire.name: wire
    for wire in (
        Wire("assetto", "pages", "line_follow", 9.0, 0.003),
        Wire("forza", "udp", "line_follow", 5.0, 1 / 60),
        Wire("beamng", "udp", "line_follow", 9.0, 0.005),
        Wire("trend", "websocket", "lane_sign", 1.2, 0.04, ()),
        Wire("udacity", "websocket", "road_sight", 5.0, 0.04, ("--track", "lakeside")),
        Wire("udacity_pid", "websocket", "lane_pid", 5.0, 0.04, ("--track", "lakeside")),
        Wire("udacity_mpc", "websocket", "waypoint_follow", 5.0, 0.04, ("--track", "lakeside")),
        Wire("donkeycar", "tcp", "road_sight", 3.0, 0.05, ("--track", "lakeside")),
    )
}
