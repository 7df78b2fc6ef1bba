"""`ServedWorldView`: the first car of a served world on the live page, whichever program drives it."""

from collections.abc import Callable

from trailbrake.dashboard.live_tap import LiveTap
from trailbrake.laps import LapRecord
from trailbrake.roles import LinkCounters, Plant
from trailbrake.state import CarState, OtherCar, SimCommand, applied_controls

RATE_HZ = 60.0  # samples for the page in a second


class WorldRequests:
    """What a page requests of the world; stands in for the link of a drive.

    Args:
        plant: the world; commands go to it between two ticks of the host.

    Attributes:
        plant: the world.
        counters: samples that the page has received.
    """

    ACCEPTS = frozenset({"restart", "teleport", "to_pits"})

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self.counters = LinkCounters()

    def send_command(self, command: SimCommand) -> None:
        """Carry out a command for the first car."""
        self.plant.execute_command(0, command)


class ServedWorldView:
    """Shows a world some 60 times a second; a TickView.

    A tick of the host costs a comparison, and the states of the cars where a sample is due.

    Args:
        world: the world, and what a page requests of it.
        cars: how many there are.
        tap: receives the first car's samples, with the others.
        show_lap: takes the laps that the first car finishes.
        say: takes a line for the page's messages.
    """

    def __init__(
        self,
        world: WorldRequests,
        cars: int,
        tap: LiveTap,
        show_lap: Callable[[LapRecord], None],
        say: Callable[[str], None],
    ) -> None:
        self._world, self._cars, self._tap = world, cars, tap
        self._show_lap, self._say = show_lap, say
        self._due_at = 0.0
        self._lap_count = 0

    def update(self, now: float) -> None:
        """Pass on the newest sample, where one is due at `now` (s, steady clock), and carry out requests."""
        if now < self._due_at:
            self._tap.tick_count += 1
            return
        late = now - self._due_at
        self._due_at = now + 1.0 / RATE_HZ - (late if late < 1.0 / RATE_HZ else 0.0)
        self._tap.execute_pending(self._say)
        plant = self._world.plant
        state = plant.car_state(0)
        state.others = [_describe_other(index, plant.car_state(index)) for index in range(1, self._cars)]
        self._world.counters.received += 1
        self._tap.tick(state, applied_controls(state))
        laps = plant.laps(0)
        for lap in laps[self._lap_count :]:
            self._show_lap(lap)
        self._lap_count = len(laps)  # fewer after a restart


def _describe_other(index: int, state: CarState) -> OtherCar:
    return OtherCar(
        index=index, x=state.x, y=state.y, z=state.z, yaw=state.yaw, speed=state.speed,
        steering_wheel_angle=state.steering_wheel_angle, is_braking=float(state.brake > 0.0),
    )  # fmt: skip
