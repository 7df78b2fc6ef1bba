"""The files that a served world stands in for: its track and cars below a folder, as the game would have them."""

from pathlib import Path

from trailbrake.planning.course import Course
from trailbrake.roles import Plant
from trailbrake.sims.assetto.files import content
from trailbrake.sims.assetto.road import lane_from_line


def write_files(root: Path, plant: Plant) -> list[Path]:
    """Write the files of the plant's track and cars below `root`; return them.

    The line is the quick one of the first car with its planned speeds, as the game's own drivers have theirs: clients
    steer by it.

    Raises:
        SimulatorError: a file cannot be written.
    """
    course = Course(plant.track, plant.cars[0])
    lane = lane_from_line(plant.track, course.line, course.profile.speed)
    written: dict[Path, None] = {}
    for car in {car.name: car for car in plant.cars}.values():
        written |= dict.fromkeys(content.write(root, plant.track, car, lane))
    return list(written)
