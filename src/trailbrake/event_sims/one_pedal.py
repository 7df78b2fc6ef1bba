"""One pedal from -1 to 1 that brakes a rolling car below 0 and reverses a standing one, as Unity's car has it."""

from trailbrake.state import Controls


def combine_pedals(controls: Controls, speed: float, standstill_speed: float) -> float:
    """Return the pedal for `controls` of a car at `speed` (m/s) that counts as standing below `standstill_speed` (m/s).

    A brake that is held at rest is 0: below it the car would go backwards.
    """
    if controls.gear is not None and controls.gear < 0:
        return -controls.throttle
    return controls.throttle - (controls.brake if speed > standstill_speed else 0.0)


def split_pedal(pedal: float, forward_speed: float, standstill_speed: float) -> tuple[float, float, bool]:
    """Return (throttle, brake, whether in reverse) for a car that rolls at `forward_speed` m/s, negative in reverse."""
    if pedal >= 0.0:
        return pedal, 0.0, False
    return (0.0, -pedal, False) if forward_speed > standstill_speed else (-pedal, 0.0, True)
