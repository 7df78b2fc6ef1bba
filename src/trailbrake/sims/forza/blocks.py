"""The blocks of Forza's "Data Out" datagrams: every field once, with its wire type, official name and unit.

Source: protocol page forza-data-out, section 2. The names here are the column keys of recordings and of YAML files;
wheels are FL, FR, RL, RR. Signs and axes are the wire's own: car X right, Y up, Z forward; world Y up, left-handed.
"""

# ruff: noqa: N815 - the keys are those of recordings and configuration files that exist

from struct import Struct
from typing import Annotated, NamedTuple, get_args, get_type_hints

WHEELS = ("FL", "FR", "RL", "RR")


class Wire(NamedTuple):
    """How a field travels: `code` of the struct module, official name, unit of the wire."""

    code: str
    official: str
    unit: str


class Sled(NamedTuple):
    """Bytes 0..231, the same in all formats."""

    is_race_on: Annotated[int, Wire("i", "IsRaceOn", "bool")] = 0  # 1 = driving (also free roam), 0 = not
    timestamp_ms: Annotated[int, Wire("I", "TimestampMS", "ms")] = 0  # wraps modulo 2^32
    engine_max_rpm: Annotated[float, Wire("f", "EngineMaxRpm", "rpm")] = 0.0  # constant per car
    engine_idle_rpm: Annotated[float, Wire("f", "EngineIdleRpm", "rpm")] = 0.0  # constant per car
    current_engine_rpm: Annotated[float, Wire("f", "CurrentEngineRpm", "rpm")] = 0.0
    acceleration_x: Annotated[float, Wire("f", "AccelerationX", "m/s^2")] = 0.0  # + right
    acceleration_y: Annotated[float, Wire("f", "AccelerationY", "m/s^2")] = 0.0  # + up, gravity removed
    acceleration_z: Annotated[float, Wire("f", "AccelerationZ", "m/s^2")] = 0.0  # + forward
    velocity_x: Annotated[float, Wire("f", "VelocityX", "m/s")] = 0.0  # car frame, + right
    velocity_y: Annotated[float, Wire("f", "VelocityY", "m/s")] = 0.0  # car frame, + up
    velocity_z: Annotated[float, Wire("f", "VelocityZ", "m/s")] = 0.0  # car frame, + forward
    angular_velocity_x: Annotated[float, Wire("f", "AngularVelocityX", "rad/s")] = 0.0  # pitch rate, + nose down
    angular_velocity_y: Annotated[float, Wire("f", "AngularVelocityY", "rad/s")] = 0.0  # yaw rate, + turning right
    angular_velocity_z: Annotated[float, Wire("f", "AngularVelocityZ", "rad/s")] = 0.0  # roll rate, + right side up
    yaw: Annotated[float, Wire("f", "Yaw", "rad")] = 0.0  # -pi..pi; 0 faces +Z, +pi/2 faces +X
    pitch: Annotated[float, Wire("f", "Pitch", "rad")] = 0.0  # + nose down
    roll: Annotated[float, Wire("f", "Roll", "rad")] = 0.0  # + right side up
    norm_suspension_travel_FL: Annotated[float, Wire("f", "NormalizedSuspensionTravelFrontLeft", "1")] = 0.0
    norm_suspension_travel_FR: Annotated[float, Wire("f", "NormalizedSuspensionTravelFrontRight", "1")] = 0.0
    norm_suspension_travel_RL: Annotated[float, Wire("f", "NormalizedSuspensionTravelRearLeft", "1")] = 0.0
    norm_suspension_travel_RR: Annotated[float, Wire("f", "NormalizedSuspensionTravelRearRight", "1")] = 0.0
    tire_slip_ratio_FL: Annotated[float, Wire("f", "TireSlipRatioFrontLeft", "1")] = 0.0
    tire_slip_ratio_FR: Annotated[float, Wire("f", "TireSlipRatioFrontRight", "1")] = 0.0
    tire_slip_ratio_RL: Annotated[float, Wire("f", "TireSlipRatioRearLeft", "1")] = 0.0
    tire_slip_ratio_RR: Annotated[float, Wire("f", "TireSlipRatioRearRight", "1")] = 0.0
    wheel_rotation_speed_FL: Annotated[float, Wire("f", "WheelRotationSpeedFrontLeft", "rad/s")] = 0.0  # + forward
    wheel_rotation_speed_FR: Annotated[float, Wire("f", "WheelRotationSpeedFrontRight", "rad/s")] = 0.0
    wheel_rotation_speed_RL: Annotated[float, Wire("f", "WheelRotationSpeedRearLeft", "rad/s")] = 0.0
    wheel_rotation_speed_RR: Annotated[float, Wire("f", "WheelRotationSpeedRearRight", "rad/s")] = 0.0
    wheel_on_rumble_strip_FL: Annotated[int, Wire("i", "WheelOnRumbleStripFrontLeft", "bool")] = 0  # 0/1 (integer)
    wheel_on_rumble_strip_FR: Annotated[int, Wire("i", "WheelOnRumbleStripFrontRight", "bool")] = 0
    wheel_on_rumble_strip_RL: Annotated[int, Wire("i", "WheelOnRumbleStripRearLeft", "bool")] = 0
    wheel_on_rumble_strip_RR: Annotated[int, Wire("i", "WheelOnRumbleStripRearRight", "bool")] = 0
    wheel_in_puddle_FL: Annotated[float, Wire("f", "WheelInPuddleDepthFrontLeft", "1")] = 0.0
    wheel_in_puddle_FR: Annotated[float, Wire("f", "WheelInPuddleDepthFrontRight", "1")] = 0.0
    wheel_in_puddle_RL: Annotated[float, Wire("f", "WheelInPuddleDepthRearLeft", "1")] = 0.0
    wheel_in_puddle_RR: Annotated[float, Wire("f", "WheelInPuddleDepthRearRight", "1")] = 0.0
    surface_rumble_FL: Annotated[float, Wire("f", "SurfaceRumbleFrontLeft", "1")] = 0.0  # >=0, force-feedback strength
    surface_rumble_FR: Annotated[float, Wire("f", "SurfaceRumbleFrontRight", "1")] = 0.0
    surface_rumble_RL: Annotated[float, Wire("f", "SurfaceRumbleRearLeft", "1")] = 0.0
    surface_rumble_RR: Annotated[float, Wire("f", "SurfaceRumbleRearRight", "1")] = 0.0
    tire_slip_angle_FL: Annotated[float, Wire("f", "TireSlipAngleFrontLeft", "1")] = 0.0
    tire_slip_angle_FR: Annotated[float, Wire("f", "TireSlipAngleFrontRight", "1")] = 0.0
    tire_slip_angle_RL: Annotated[float, Wire("f", "TireSlipAngleRearLeft", "1")] = 0.0
    tire_slip_angle_RR: Annotated[float, Wire("f", "TireSlipAngleRearRight", "1")] = 0.0
    tire_combined_slip_FL: Annotated[float, Wire("f", "TireCombinedSlipFrontLeft", "1")] = 0.0  # sqrt(ratio^2+angle^2)
    tire_combined_slip_FR: Annotated[float, Wire("f", "TireCombinedSlipFrontRight", "1")] = 0.0
    tire_combined_slip_RL: Annotated[float, Wire("f", "TireCombinedSlipRearLeft", "1")] = 0.0
    tire_combined_slip_RR: Annotated[float, Wire("f", "TireCombinedSlipRearRight", "1")] = 0.0
    suspension_travel_meters_FL: Annotated[float, Wire("f", "SuspensionTravelMetersFrontLeft", "m")] = 0.0
    suspension_travel_meters_FR: Annotated[float, Wire("f", "SuspensionTravelMetersFrontRight", "m")] = 0.0
    suspension_travel_meters_RL: Annotated[float, Wire("f", "SuspensionTravelMetersRearLeft", "m")] = 0.0
    suspension_travel_meters_RR: Annotated[float, Wire("f", "SuspensionTravelMetersRearRight", "m")] = 0.0
    car_ordinal: Annotated[int, Wire("i", "CarOrdinal", "id")] = 0  # make/model id
    car_class: Annotated[int, Wire("i", "CarClass", "enum")] = 0  # 0..8, see 3.7
    car_performance_index: Annotated[int, Wire("i", "CarPerformanceIndex", "PI")] = 0  # 100..999
    drivetrain_type: Annotated[int, Wire("i", "DrivetrainType", "enum")] = 0  # 0 FWD, 1 RWD, 2 AWD
    num_cylinders: Annotated[int, Wire("i", "NumCylinders", "count")] = 0  # 0 for electric (not verified)


class Gap(NamedTuple):
    """Bytes 232..243 of the Horizon format. FH6's names; older titles send the same bytes with unknown meaning."""

    car_group: Annotated[int, Wire("I", "CarGroup", "id")] = 0
    smashable_vel_diff: Annotated[float, Wire("f", "SmashableVelDiff", "m/s")] = 0.0  # lost by hitting an object
    smashable_mass: Annotated[float, Wire("f", "SmashableMass", "kg")] = 0.0  # of that object


class Dash(NamedTuple):
    """79 bytes, behind the sled or behind the Horizon gap."""

    position_x: Annotated[float, Wire("f", "PositionX", "m")] = 0.0  # world
    position_y: Annotated[float, Wire("f", "PositionY", "m")] = 0.0  # world, up
    position_z: Annotated[float, Wire("f", "PositionZ", "m")] = 0.0  # world
    speed: Annotated[float, Wire("f", "Speed", "m/s")] = 0.0  # >= 0, equals velocity (error < 2e-5 in the recording)
    power: Annotated[float, Wire("f", "Power", "W")] = 0.0  # can be negative; = torque * engine rad/s
    torque: Annotated[float, Wire("f", "Torque", "N m")] = 0.0  # can be negative
    tire_temp_FL: Annotated[float, Wire("f", "TireTempFrontLeft", "deg F")] = 0.0
    tire_temp_FR: Annotated[float, Wire("f", "TireTempFrontRight", "deg F")] = 0.0
    tire_temp_RL: Annotated[float, Wire("f", "TireTempRearLeft", "deg F")] = 0.0
    tire_temp_RR: Annotated[float, Wire("f", "TireTempRearRight", "deg F")] = 0.0
    boost: Annotated[float, Wire("f", "Boost", "psi")] = 0.0  # gauge; -14.7 = full vacuum
    fuel: Annotated[float, Wire("f", "Fuel", "1")] = 0.0  # 1 = full
    dist_traveled: Annotated[float, Wire("f", "DistanceTraveled", "m")] = 0.0  # 0 in free roam
    best_lap_time: Annotated[float, Wire("f", "BestLap", "s")] = 0.0  # 0 if none
    last_lap_time: Annotated[float, Wire("f", "LastLap", "s")] = 0.0  # 0 if none
    cur_lap_time: Annotated[float, Wire("f", "CurrentLap", "s")] = 0.0  # 0 if none
    cur_race_time: Annotated[float, Wire("f", "CurrentRaceTime", "s")] = 0.0
    lap_no: Annotated[int, Wire("H", "LapNumber", "count")] = 0  # completed laps, 0 on the first lap
    race_pos: Annotated[int, Wire("B", "RacePosition", "rank")] = 0  # 0 when no race
    accel: Annotated[int, Wire("B", "Accel", "1/255")] = 0  # 0..255
    brake: Annotated[int, Wire("B", "Brake", "1/255")] = 0  # 0..255
    clutch: Annotated[int, Wire("B", "Clutch", "1/255")] = 0  # 0..255
    handbrake: Annotated[int, Wire("B", "HandBrake", "1/255")] = 0  # 0..255
    gear: Annotated[int, Wire("B", "Gear", "enum")] = 0  # 0 reverse, 1..N, 11 = shifting (FH6)
    steer: Annotated[int, Wire("b", "Steer", "1/127")] = 0  # -127 full left .. 127 full right
    norm_driving_line: Annotated[int, Wire("b", "NormalizedDrivingLine", "1/127")] = 0  # + = car left of the line
    norm_ai_brake_diff: Annotated[int, Wire("b", "NormalizedAIBrakeDifference", "1/127")] = 0  # -127..127


class Extra(NamedTuple):
    """The last 20 bytes of Forza Motorsport (2023)."""

    tire_wear_FL: Annotated[float, Wire("f", "TireWearFrontLeft", "1")] = 0.0  # 0 new .. 1 worn (inferred)
    tire_wear_FR: Annotated[float, Wire("f", "TireWearFrontRight", "1")] = 0.0
    tire_wear_RL: Annotated[float, Wire("f", "TireWearRearLeft", "1")] = 0.0
    tire_wear_RR: Annotated[float, Wire("f", "TireWearRearRight", "1")] = 0.0
    track_ordinal: Annotated[int, Wire("i", "TrackOrdinal", "id")] = 0


def fields(block: type) -> dict[str, Wire]:
    """Return {column key: Wire} of a block, in the order of its bytes."""
    hints = get_type_hints(block, include_extras=True)
    return {name: get_args(hint)[1] for name, hint in hints.items()}


def layout(*blocks: type) -> Struct:
    """Return the structure of blocks one behind the other: little-endian, no padding."""
    return Struct("<" + "".join(wire.code for block in blocks for wire in fields(block).values()))
