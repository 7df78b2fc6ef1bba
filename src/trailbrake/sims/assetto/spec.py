"""Assetto Corsa with Custom Shaders Patch, interface Custom AI: names, rates, fields and options.

Source: protocol page assetto-custom-ai, sections 1 and 2. Constants only; cheap to import.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from trailbrake.errors import UsageError

NAME = "assetto"
TITLE = "Assetto Corsa (Custom Shaders Patch, Custom AI)"

RATE_HZ = 333.0  # physics steps per second, one CarData each; the step is 1/333 s, never a clean 3 ms
FRAME_RATE_HZ = 60.0  # the game writes CarPublic at its frame rate; our host at this one
STALE_S = 0.25  # s of wall time; a packet_id that stands still for longer is not live (section 4.1)

PREFIX = "AcTools.CSP.NewBehaviour.CustomAI."
SIM_STATE_V0 = f"{PREFIX}SimState.v0"
SIM_STATE_V1 = f"{PREFIX}SimState.v1"  # CSP >= 0.2.8
DEBUG_LINES = f"{PREFIX}DebugLines.v0"
HOST_LOCK = f"{PREFIX}Host"  # ours: the lock of the one host with these names


REFUSALS = {  # of `serve --refuse`: why
    "disabled": "Custom AI is switched off",
    "track": "the track does not permit Custom AI",
    "remote": "it is a remote player's",
}


def controls_name(car: int) -> str:
    """Return the name of the page that a client creates to take car `car`."""
    return f"{PREFIX}CarControls{car}.v0"


def car_name(car: int) -> str:
    """Return the name of the page on which the game publishes car `car` to its client."""
    return f"{PREFIX}Car{car}.v0"


def public_name(car: int) -> str:
    """Return the name of the public page of car `car`."""
    return f"{PREFIX}CarPublic{car}.v0"


# `steer` is missing: the wire supplies the angle of the steering wheel in degrees, and not its range.
SUPPLIES: frozenset[str] = frozenset(
    {
        "time", "sequence", "age", "phase", "x", "y", "z", "yaw", "pitch", "roll", "speed", "velocity_x", "velocity_y",
        "velocity_z", "acceleration_x", "acceleration_y", "acceleration_z", "roll_rate", "pitch_rate", "yaw_rate",
        "steering_wheel_angle", "throttle", "brake", "clutch", "handbrake", "gear", "engine_speed", "max_engine_speed",
        "fuel_litres",
        "abs_active", "tc_active", "damage", "lap_time", "best_lap_time", "lap_progress", "contacts", "contact_depth",
        "wheels.x", "wheels.y", "wheels.z", "wheels.angular_velocity", "wheels.slip_ratio", "wheels.slip_angle",
        "wheels.combined_slip", "wheels.load", "wheels.camber", "wheels.pressure", "wheels.core_temperature",
        "wheels.disc_temperature", "wheels.wear", "wheels.on_track", "others",
    }
)  # fmt: skip
# Of the player's car by the standard pages, where nobody of ours drives.
OBSERVED: frozenset[str] = SUPPLIES - {
    "steering_wheel_angle", "handbrake", "contacts", "contact_depth", "wheels.slip_ratio", "wheels.slip_angle",
    "wheels.combined_slip", "wheels.on_track",
} | {"steer", "lap"}  # fmt: skip
ACCEPTS: frozenset[str] = frozenset(
    {
        "steer", "throttle", "brake", "clutch", "handbrake", "gear", "drs", "boost", "brake_bias", "abs_level",
        "tc_level", "turbo_level", "engine_brake_level", "delivery_level", "recovery_level",
        "pause", "restart", "teleport", "to_pits", "time_scale", "collisions", "extra_sleep", "headlights", "mguh_mode",
        "autoblip", "lines",
    }
)  # fmt: skip


@dataclass(slots=True)
class ServeOptions:
    """Options of `serve assetto`.

    Attributes:
        cars: cars on the track. Those without a client are driven by --driver, a single one waits.
        park: cars without a client hold the brake.
        driver: of cars without a client: a driver's name, FILE.py or FILE.py:Class.
        classic: publish car 0's physics and graphics pages too.
        ac_root: a folder in place of the game's, which gets the files of track and car.
        refuse: hand over no car, as the game with Custom AI off (disabled), without the track's permission (track), or
            online (remote).
        old_patch: read SimState.v0 alone, as Custom Shaders Patch before 0.2.8.
    """

    cars: int = 1
    park: bool = False
    driver: str = "convoy"
    classic: bool = True
    ac_root: Path | None = None
    refuse: Literal["nothing", "disabled", "track", "remote"] = "nothing"
    old_patch: bool = False

    def __post_init__(self) -> None:
        if self.refuse == "remote" and self.cars < 2:
            raise UsageError("no car of a remote player", where="--refuse remote", expected="--cars 2 or more",
                             got=str(self.cars))  # fmt: skip


@dataclass(slots=True)
class LiveOptions:
    """Options of `--sim assetto --live`.

    Attributes:
        car_index: the car; 0 is the player's.
        wait: seconds to wait for the session to hand over the car.
        root: the game's folder; else TRAILBRAKE_ASSETTO, else where Steam has it.
        shifts: who shifts: the `driver`, by paddles, or the `game`'s gearbox.
        draw: draw the planned line and the next seconds in the game.
        headlights: drive with the headlights on.
        mguh_mode: mode of the motor at the turbocharger, 0 to 255, as in the game.
        take: take the car. Off: only watch the player's car, without Custom AI.
    """

    car_index: int = 0
    wait: float = 60.0
    root: Path | None = None
    shifts: Literal["driver", "game"] = "driver"
    draw: bool = False
    headlights: bool = False
    mguh_mode: int = 0
    take: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.mguh_mode <= 255:
            raise UsageError("no such mode", where="--mguh-mode", expected="0 to 255", got=str(self.mguh_mode))


def list_supplied(options: LiveOptions) -> frozenset[str]:
    """Return the names of STATE_FIELDS that a car supplies: the page of constants is of the player's alone."""
    return SUPPLIES if options.car_index == 0 else SUPPLIES - {"max_engine_speed"}


@dataclass(slots=True)
class RecordOptions:
    """Options of `record --sim assetto`.

    Attributes:
        verbose: print changes of the session.
    """

    verbose: Annotated[bool, Parameter(alias="-v")] = False


def embedded(live: LiveOptions, cars: int) -> ServeOptions:
    """Return the options of a world that exists for one drive of `cars` cars."""
    return ServeOptions(cars=cars, park=True, classic=False)
