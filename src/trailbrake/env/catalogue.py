"""The named environments."""

from dataclasses import dataclass, replace

from trailbrake.env.domain_randomisation import Start, Vary
from trailbrake.env.options import RaceOptions
from trailbrake.observe.rewards import ENDS, REWARDS


@dataclass(frozen=True)
class NamedEnvironment:
    """An environment that `gymnasium.make` knows by name.

    Attributes:
        text: one line for the documentation.
        options: of the environment.
        link: whether it drives through a simulator's wire.
    """

    text: str
    options: RaceOptions
    link: bool = False


_SCAN_PARTS = ("motion", "asked")
ENVIRONMENTS: dict[str, NamedEnvironment] = {
    "trailbrake/Race-v1": NamedEnvironment(
        "a lap from anywhere on the road; common learners drive it with their default settings",
        RaceOptions(
            # 0.1 s: a discount of 0.99 then looks 10 s ahead. Noise on the fine steer keeps the car on the road.
            # Returns are a few tens at most, as default settings expect, and neither a standstill nor an end pays.
            period=0.1, substeps=90, action="fine_steer_pedal",
            rewards=(replace(REWARDS["progress"], weight=0.02), replace(REWARDS["smooth_steer"], weight=-0.2),
                     replace(REWARDS["smooth_pedals"], weight=-0.02)),
            ends=("lap", replace(ENDS["off_track"], reward=-2.0), replace(ENDS["contact"], reward=-2.0), "backward",
                  "slow"),
            limit=180.0, start=Start(speed=(5.0, 20.0)),
        ),
    ),
    "trailbrake/Race-v0": NamedEnvironment(
        "one car alone, started anywhere on the road, at 100 Hz: common learners come to stand still", RaceOptions()
    ),
    "trailbrake/Lap-v0": NamedEnvironment(
        "one lap from a standing start; it ends with a contact, or with more than two wheels off the road",
        RaceOptions(
            start=Start(anywhere=False, offset=0.0, heading=0.0, speed=(0.0, 0.0)),
            rewards=("progress", "time", "smooth_steer"), ends=("lap", "off_track", "contact", "backward", "slow"),
            limit=180.0,
        ),
    ),
    "trailbrake/Scan-v0": NamedEnvironment(
        "one car with a range scanner of 64 beams", RaceOptions(observe=(*_SCAN_PARTS, "scan64"))
    ),
    "trailbrake/Scan1080-v0": NamedEnvironment(
        "one car with a range scanner of 1080 beams", RaceOptions(observe=(*_SCAN_PARTS, "scan1080"))
    ),
    "trailbrake/Random-v0": NamedEnvironment("a new road in every episode", RaceOptions(track="random")),
    "trailbrake/Varied-v0": NamedEnvironment(
        "cars that differ in mass, grip, stiffness, delay and noise",
        RaceOptions(vary=Vary(mass=(0.9, 1.2), grip=(0.8, 1.1), stiffness=(0.8, 1.25), delay=4, noise=(0.0, 0.02))),
    ),
    "trailbrake/Traffic-v0": NamedEnvironment(
        "one car among three rivals that follow the road at a steady pace",
        RaceOptions(cars=4, rivals=True, observe=("motion", "lane", "asked", "bends", "rivals"),
                    start=Start(heading=0.05, speed=(10.0, 20.0))),
    ),
    "trailbrake/Link-v0": NamedEnvironment(
        "one car through a simulator's wire, at the speed of that wire",
        RaceOptions(period=0.012, substeps=12), link=True,
    ),
}  # fmt: skip
