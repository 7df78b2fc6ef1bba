"""`Connection`: open links and what belongs to them. `open_connection` makes them, and few modules may call it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from trailbrake.driving.loop.drive_loop import SamplePacer
from trailbrake.driving.loop.driver_pace import DriverPace
from trailbrake.driving.session.camera_link import PictureSource
from trailbrake.json_types import JsonObject
from trailbrake.roles import Link, Plant
from trailbrake.system.drive_guard import DriveGuard


@dataclass
class Connection:
    """Open links and what belongs to them.

    Attributes:
        links: open links, one per car.
        pacer: waits for the first car's samples.
        host_report: counters of the embedded host, filled in when the connection closes.
        read_host_counters: returns the same during the drive, where the host is in this process.
        plant: the embedded world, where it is in this process.
        pace: makes the simulator wait for the first car's driver, where the drive requests it and the simulator does
            not wait by itself.
        doors: folder of the private wire; None = the public names.
        guard: the process that brakes the cars of a live simulator if this one dies, where its wire needs that.
        camera: adds pictures to the first car's states, where the drive has a camera.
    """

    links: list[Link]
    pacer: SamplePacer
    host_report: JsonObject = field(default_factory=dict)
    read_host_counters: Callable[[], JsonObject] = dict
    plant: Plant | None = None
    pace: DriverPace | None = None
    doors: str | None = None
    guard: DriveGuard | None = None
    camera: "PictureSource | None" = None

    @property
    def link(self) -> Link:
        """The first car's."""
        return self.links[0]
