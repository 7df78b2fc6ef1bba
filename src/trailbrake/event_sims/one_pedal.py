"""One pedal from -1 to 1 that brakes a rolling car below 0 and reverses a standing one, as Unity's car has it.

What counts as standing may be as fast as 5 mph. Below that the wire has no brake, and a car that rolls freely needs
half a minute to stand; but reverse slows a car that rolls forward. The speed of the wires has no sign, so that the way
it rolls is known from its pedal alone.
"""

from trailbrake.state import Controls

CRAWL_SPEED = 0.35  # m/s below which a car may roll either way, and reverse brakes it no more
REVERSE_BRAKE = 0.3  # share of reverse that a whole brake is: embedded cars lose 0.05 m/s from one answer to the next
REVERSE_FORCE = 0.4  # force of whole reverse over that of the whole brake, of a car at walking pace
REST_SPEED = 0.1  # m/s below which a car with gears can take reverse


class RollDirection:
    """Whether a car is known to roll forward, from the pedals that it was given.

    Attributes:
        is_forward: it has been driven forward from rest, and neither stood nor reversed since.
    """

    def __init__(self) -> None:
        self.is_forward = False

    def note_controls(self, controls: Controls, speed: float) -> None:
        """Take in what a car at `speed` (m/s, without sign) is given."""
        if controls.gear is not None and controls.gear < 0:
            self.is_forward = False
        elif speed < CRAWL_SPEED:
            self.is_forward = controls.throttle > 0.0


def combine_pedals(controls: Controls, speed: float, standstill_speed: float, *, rolls_forward: bool = False) -> float:
    """Return the pedal for `controls`.

    A brake that is held at rest is 0: below it the car would go backwards.

    Args:
        controls: gear, throttle and brake count.
        speed: of the car, m/s.
        standstill_speed: m/s below which it counts as standing.
        rolls_forward: it is known to; then reverse brakes it between CRAWL_SPEED and `standstill_speed`.
    """
    if controls.gear is not None and controls.gear < 0:
        return -controls.throttle
    if speed > standstill_speed:
        return controls.throttle - controls.brake
    if rolls_forward and speed > CRAWL_SPEED and controls.throttle == 0.0:
        return -REVERSE_BRAKE * controls.brake
    return controls.throttle


def split_pedal(pedal: float, forward_speed: float, standstill_speed: float) -> tuple[float, float, bool]:
    """Return (throttle, brake, whether in reverse) for a car that rolls at `forward_speed` m/s, negative in reverse.

    A car with gears takes none backwards while it rolls forward: what reverse does to it then, its brake does.
    """
    if pedal >= 0.0:
        return pedal, 0.0, False
    if forward_speed > standstill_speed:
        return 0.0, -pedal, False
    return (0.0, -REVERSE_FORCE * pedal, False) if forward_speed > REST_SPEED else (-pedal, 0.0, True)
