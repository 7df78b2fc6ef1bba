"""The one declared state: what a simulator tells (`CarState`) and what a driver answers (`Controls`)."""

from trailbrake.state.car import FL, FR, RL, RR, CarState, Image, OtherCar, Phase, WheelState
from trailbrake.state.controls import Controls, FourTorques, Pose, SimCommand, WheelTorque, settings_of

__all__ = [
    "FL",
    "FR",
    "RL",
    "RR",
    "CarState",
    "Controls",
    "FourTorques",
    "Image",
    "OtherCar",
    "Phase",
    "Pose",
    "SimCommand",
    "WheelState",
    "WheelTorque",
    "settings_of",
]
