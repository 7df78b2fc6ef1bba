"""Assetto Corsa with Custom Shaders Patch, "Custom AI": names, rates, and what the wire carries.

Source: protocol page assetto-custom-ai, sections 1 and 2. Constants only; cheap to import.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from trailbrake.errors import UsageError

NAME = "assetto"
TITLE = "Assetto Corsa (Custom Shaders Patch, Custom AI)"

RATE_HZ = 333.0  # physics steps per second, one CarData each; the step is 1/333 s, never a clean 3 ms
FRAME_RATE_HZ = 60.0  # CarPublic follows the game's frame rate; our host's is this, in simulated time
STALE_S = 0.25  # s of wall time; a packet_id that stood longer is not live (section 4.1)

PREFIX = "AcTools.CSP.NewBehaviour.CustomAI."
SIM_STATE_V0 = f"{PREFIX}SimState.v0"
SIM_STATE_V1 = f"{PREFIX}SimState.v1"  # CSP >= 0.2.8
DEBUG_LINES = f"{PREFIX}DebugLines.v0"
HOST_LOCK = f"{PREFIX}Host"  # ours: taken by the one host of these names


def controls_name(car: int) -> str:
    """Return the name of the page that a client makes to take car `car`."""
    return f"{PREFIX}CarControls{car}.v0"


def car_name(car: int) -> str:
    """Return the name of the page that the game answers with."""
    return f"{PREFIX}Car{car}.v0"


def public_name(car: int) -> str:
    """Return the name of the page that everybody may read about car `car`."""
    return f"{PREFIX}CarPublic{car}.v0"


# `steer` is missing: the wire tells the angle of the steering wheel in degrees, and not how far it can turn.
SUPPLIES: frozenset[str] = frozenset(
    {
        "time", "sequence", "age", "phase", "x", "y", "z", "yaw", "pitch", "roll", "speed", "velocity_x", "velocity_y",
        "velocity_z", "acceleration_x", "acceleration_y", "acceleration_z", "roll_rate", "pitch_rate", "yaw_rate",
        "steering_wheel_angle", "throttle", "brake", "clutch", "handbrake", "gear", "engine_speed", "fuel_litres",
        "abs_active", "tc_active", "lap_time", "best_lap_time", "lap_progress", "contacts", "contact_depth",
        "wheels.x", "wheels.y", "wheels.z", "wheels.angular_velocity", "wheels.slip_ratio", "wheels.slip_angle",
        "wheels.combined_slip", "wheels.load", "wheels.camber", "wheels.pressure", "wheels.core_temperature",
        "wheels.disc_temperature", "wheels.wear", "wheels.on_track", "others",
    }
)  # fmt: skip
ACCEPTS: frozenset[str] = frozenset(
    {
        "steer", "throttle", "brake", "clutch", "handbrake", "gear", "drs", "boost", "brake_bias", "abs_level",
        "tc_level", "turbo_level", "engine_brake_level", "delivery_level", "recovery_level",
        "pause", "restart", "teleport", "to_pits", "time_scale", "collisions",
    }
)  # fmt: skip


@dataclass(slots=True)
class ServeOptions:
    """Options of `serve assetto`.

    Attributes:
        cars: number of cars on the track. A single one waits at rest for its client; of more, those that nobody has
            taken are driven by a driver of ours.
        park: leave the cars that nobody has taken at rest, whatever their number.
        driver: who drives them: a driver's name, or FILE.py, or FILE.py:Class.
        classic: publish the three acpmf pages too, which tell of car 0.
        ac_root: a folder that stands in for the game's: the files of track and car are written below it, for clients
            that read them.
    """

    cars: int = 1
    park: bool = False
    driver: str = "convoy"
    classic: bool = True
    ac_root: Path | None = None


@dataclass(slots=True)
class LiveOptions:
    """Options of `--sim assetto --live`.

    Attributes:
        car_index: which car to take; 0 is the player's.
        wait: seconds to wait for the session to let us have the car.
        root: the game's folder, whose files tell the track and the car; else TRAILBRAKE_ASSETTO, else where Steam
            has it.
        shifts: who shifts: the `driver`, by paddles, or the `game`'s own automatic box.
        draw: draw the planned line and what is ahead in the game.
        headlights: drive with the headlights on.
        mguh_mode: of a car whose turbocharger has a motor, 0 to 255, as the game numbers its modes.
    """

    car_index: int = 0
    wait: float = 60.0
    root: Path | None = None
    shifts: Literal["driver", "game"] = "driver"
    draw: bool = False
    headlights: bool = False
    mguh_mode: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.mguh_mode <= 255:
            raise UsageError("no such mode", where="--mguh-mode", expected="0 to 255", got=str(self.mguh_mode))


def period(options: ServeOptions) -> float:
    """Return how far one tick of the host goes, in s of simulator time."""
    return 1.0 / RATE_HZ


def cars(options: ServeOptions) -> int:
    """Return how many cars the host wants on the track."""
    return options.cars


def pilot(options: ServeOptions) -> str:
    """Return who drives the cars that no client has taken; "" = nobody, they hold the brake."""
    return options.driver if options.cars > 1 and not options.park else ""


def embedded(live: LiveOptions, cars: int) -> ServeOptions:
    """Return the options of a world that is there for a drive of `cars` cars, and for nobody else."""
    return ServeOptions(cars=cars, park=True, classic=False)


def seat(options: LiveOptions, car: int) -> LiveOptions:
    """Return the options for car `car` of a drive; 0 is the first, whose options they are."""
    return replace(options, car_index=options.car_index + car)
