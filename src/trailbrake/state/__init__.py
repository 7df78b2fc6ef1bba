"""The declared state: what a simulator supplies (`CarState`) and what a driver returns (`Controls`)."""

from trailbrake.state.car_state import FL, FR, RL, RR, CarState, Image, OtherCar, Phase, WheelState
from trailbrake.state.commands import DebugLine, Pose, SimCommand
from trailbrake.state.controls import Controls, FourTorques, WheelTorque, applied_controls, settings_of
from trailbrake.state.signals import Signal, SignalValues

__all__ = [
    "FL", "FR", "RL", "RR", "CarState", "Controls", "DebugLine", "FourTorques", "Image", "OtherCar", "Phase", "Pose",
    "Signal", "SignalValues", "SimCommand", "WheelState", "WheelTorque", "applied_controls", "settings_of",
]  # fmt: skip
