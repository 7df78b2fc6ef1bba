"""The one declared state: what a simulator tells (`CarState`) and what a driver answers (`Controls`)."""

from trailbrake.state.car import FL, FR, RL, RR, CarState, Image, OtherCar, Phase, WheelState
from trailbrake.state.controls import Controls, Pose, SimCommand

__all__ = [
    "FL",
    "FR",
    "RL",
    "RR",
    "CarState",
    "Controls",
    "Image",
    "OtherCar",
    "Phase",
    "Pose",
    "SimCommand",
    "WheelState",
]
