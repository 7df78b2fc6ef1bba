"""`Course`: what a driver is told before it drives: the track, and a model of the car where one is known."""

from dataclasses import dataclass

from trailbrake.cars.params import CarParams
from trailbrake.tracks.track import Track


@dataclass(frozen=True)
class Course:
    """The map and the car model that plans are made from; never the world's truth.

    Attributes:
        track: the road to drive.
        car: the car's data file; None where the simulator's car is not known.
    """

    track: Track
    car: CarParams | None
