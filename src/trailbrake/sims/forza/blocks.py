"""The blocks of Forza's "Data Out" datagrams: every field once, with its wire type, official name and unit.

Source: protocol page forza-data-out, section 2. The field names are the column names of recordings and YAML files;
wheels are FL, FR, RL, RR. Signs and axes are the wire's own: car X right, Y up, Z forward; world Y up, left-handed.
"""

# ruff: noqa: N815 - the keys are those of recordings and configuration files that exist

from struct import Struct
from typing import Annotated, NamedTuple, get_args, get_type_hints

WHEELS = ("FL", "FR", "RL", "RR")


class ForzaField(NamedTuple):
    """A field's encoding: `code` of the struct module, official name, unit of the wire."""

    code: str
    official: str
    unit: str


class Sled(NamedTuple):
    """Bytes 0..231, the same in all formats."""

    is_race_on: Annotated[int, ForzaField("i", "IsRaceOn", "bool")] = 0  # 1 = driving (also free roam), 0 = not
    timestamp_ms: Annotated[int, ForzaField("I", "TimestampMS", "ms")] = 0  # wraps modulo 2^32
    engine_max_rpm: Annotated[float, ForzaField("f", "EngineMaxRpm", "rpm")] = 0.0  # constant per car
    engine_idle_rpm: Annotated[float, ForzaField("f", "EngineIdleRpm", "rpm")] = 0.0  # constant per car
    current_engine_rpm: Annotated[float, ForzaField("f", "CurrentEngineRpm", "rpm")] = 0.0
    acceleration_x: Annotated[float, ForzaField("f", "AccelerationX", "m/s^2")] = 0.0  # + right
    acceleration_y: Annotated[float, ForzaField("f", "AccelerationY", "m/s^2")] = 0.0  # + up, gravity removed
    acceleration_z: Annotated[float, ForzaField("f", "AccelerationZ", "m/s^2")] = 0.0  # + forward
    velocity_x: Annotated[float, ForzaField("f", "VelocityX", "m/s")] = 0.0  # car frame, + right
    velocity_y: Annotated[float, ForzaField("f", "VelocityY", "m/s")] = 0.0  # car frame, + up
    velocity_z: Annotated[float, ForzaField("f", "VelocityZ", "m/s")] = 0.0  # car frame, + forward
    angular_velocity_x: Annotated[float, ForzaField("f", "AngularVelocityX", "rad/s")] = 0.0  # pitch rate, + nose down
    angular_velocity_y: Annotated[float, ForzaField("f", "AngularVelocityY", "rad/s")] = (
        0.0  # yaw rate, + turning right
    )
    angular_velocity_z: Annotated[float, ForzaField("f", "AngularVelocityZ", "rad/s")] = (
        0.0  # roll rate, + right side up
    )
    yaw: Annotated[float, ForzaField("f", "Yaw", "rad")] = 0.0  # -pi..pi; 0 faces +Z, +pi/2 faces +X
    pitch: Annotated[float, ForzaField("f", "Pitch", "rad")] = 0.0  # + nose down
    roll: Annotated[float, ForzaField("f", "Roll", "rad")] = 0.0  # + right side up
    norm_suspension_travel_FL: Annotated[float, ForzaField("f", "NormalizedSuspensionTravelFrontLeft", "1")] = 0.0
    norm_suspension_travel_FR: Annotated[float, ForzaField("f", "NormalizedSuspensionTravelFrontRight", "1")] = 0.0
    norm_suspension_travel_RL: Annotated[float, ForzaField("f", "NormalizedSuspensionTravelRearLeft", "1")] = 0.0
    norm_suspension_travel_RR: Annotated[float, ForzaField("f", "NormalizedSuspensionTravelRearRight", "1")] = 0.0
    tire_slip_ratio_FL: Annotated[float, ForzaField("f", "TireSlipRatioFrontLeft", "1")] = 0.0
    tire_slip_ratio_FR: Annotated[float, ForzaField("f", "TireSlipRatioFrontRight", "1")] = 0.0
    tire_slip_ratio_RL: Annotated[float, ForzaField("f", "TireSlipRatioRearLeft", "1")] = 0.0
    tire_slip_ratio_RR: Annotated[float, ForzaField("f", "TireSlipRatioRearRight", "1")] = 0.0
    wheel_rotation_speed_FL: Annotated[float, ForzaField("f", "WheelRotationSpeedFrontLeft", "rad/s")] = (
        0.0  # + forward
    )
    wheel_rotation_speed_FR: Annotated[float, ForzaField("f", "WheelRotationSpeedFrontRight", "rad/s")] = 0.0
    wheel_rotation_speed_RL: Annotated[float, ForzaField("f", "WheelRotationSpeedRearLeft", "rad/s")] = 0.0
    wheel_rotation_speed_RR: Annotated[float, ForzaField("f", "WheelRotationSpeedRearRight", "rad/s")] = 0.0
    wheel_on_rumble_strip_FL: Annotated[int, ForzaField("i", "WheelOnRumbleStripFrontLeft", "bool")] = (
        0  # 0/1 (integer)
    )
    wheel_on_rumble_strip_FR: Annotated[int, ForzaField("i", "WheelOnRumbleStripFrontRight", "bool")] = 0
    wheel_on_rumble_strip_RL: Annotated[int, ForzaField("i", "WheelOnRumbleStripRearLeft", "bool")] = 0
    wheel_on_rumble_strip_RR: Annotated[int, ForzaField("i", "WheelOnRumbleStripRearRight", "bool")] = 0
    wheel_in_puddle_FL: Annotated[float, ForzaField("f", "WheelInPuddleDepthFrontLeft", "1")] = 0.0
    wheel_in_puddle_FR: Annotated[float, ForzaField("f", "WheelInPuddleDepthFrontRight", "1")] = 0.0
    wheel_in_puddle_RL: Annotated[float, ForzaField("f", "WheelInPuddleDepthRearLeft", "1")] = 0.0
    wheel_in_puddle_RR: Annotated[float, ForzaField("f", "WheelInPuddleDepthRearRight", "1")] = 0.0
    surface_rumble_FL: Annotated[float, ForzaField("f", "SurfaceRumbleFrontLeft", "1")] = (
        0.0  # >=0, force-feedback strength
    )
    surface_rumble_FR: Annotated[float, ForzaField("f", "SurfaceRumbleFrontRight", "1")] = 0.0
    surface_rumble_RL: Annotated[float, ForzaField("f", "SurfaceRumbleRearLeft", "1")] = 0.0
    surface_rumble_RR: Annotated[float, ForzaField("f", "SurfaceRumbleRearRight", "1")] = 0.0
    tire_slip_angle_FL: Annotated[float, ForzaField("f", "TireSlipAngleFrontLeft", "1")] = 0.0
    tire_slip_angle_FR: Annotated[float, ForzaField("f", "TireSlipAngleFrontRight", "1")] = 0.0
    tire_slip_angle_RL: Annotated[float, ForzaField("f", "TireSlipAngleRearLeft", "1")] = 0.0
    tire_slip_angle_RR: Annotated[float, ForzaField("f", "TireSlipAngleRearRight", "1")] = 0.0
    tire_combined_slip_FL: Annotated[float, ForzaField("f", "TireCombinedSlipFrontLeft", "1")] = (
        0.0  # sqrt(ratio^2+angle^2)
    )
    tire_combined_slip_FR: Annotated[float, ForzaField("f", "TireCombinedSlipFrontRight", "1")] = 0.0
    tire_combined_slip_RL: Annotated[float, ForzaField("f", "TireCombinedSlipRearLeft", "1")] = 0.0
    tire_combined_slip_RR: Annotated[float, ForzaField("f", "TireCombinedSlipRearRight", "1")] = 0.0
    suspension_travel_meters_FL: Annotated[float, ForzaField("f", "SuspensionTravelMetersFrontLeft", "m")] = 0.0
    suspension_travel_meters_FR: Annotated[float, ForzaField("f", "SuspensionTravelMetersFrontRight", "m")] = 0.0
    suspension_travel_meters_RL: Annotated[float, ForzaField("f", "SuspensionTravelMetersRearLeft", "m")] = 0.0
    suspension_travel_meters_RR: Annotated[float, ForzaField("f", "SuspensionTravelMetersRearRight", "m")] = 0.0
    car_ordinal: Annotated[int, ForzaField("i", "CarOrdinal", "id")] = 0  # make/model id
    car_class: Annotated[int, ForzaField("i", "CarClass", "enum")] = 0  # 0..8, see 3.7
    car_performance_index: Annotated[int, ForzaField("i", "CarPerformanceIndex", "PI")] = 0  # 100..999
    drivetrain_type: Annotated[int, ForzaField("i", "DrivetrainType", "enum")] = 0  # 0 FWD, 1 RWD, 2 AWD
    num_cylinders: Annotated[int, ForzaField("i", "NumCylinders", "count")] = 0  # 0 for electric (not verified)


class HorizonBlock(NamedTuple):
    """Bytes 232..243 of the Horizon format. Names of FH6; older titles send these bytes with unknown meaning."""

    car_group: Annotated[int, ForzaField("I", "CarGroup", "id")] = 0
    smashable_vel_diff: Annotated[float, ForzaField("f", "SmashableVelDiff", "m/s")] = 0.0  # lost by hitting an object
    smashable_mass: Annotated[float, ForzaField("f", "SmashableMass", "kg")] = 0.0  # of that object


class Dash(NamedTuple):
    """79 bytes after the sled or, in the Horizon format, after the Horizon block."""

    position_x: Annotated[float, ForzaField("f", "PositionX", "m")] = 0.0  # world
    position_y: Annotated[float, ForzaField("f", "PositionY", "m")] = 0.0  # world, up
    position_z: Annotated[float, ForzaField("f", "PositionZ", "m")] = 0.0  # world
    speed: Annotated[float, ForzaField("f", "Speed", "m/s")] = (
        0.0  # >= 0, equals velocity (error < 2e-5 in the recording)
    )
    power: Annotated[float, ForzaField("f", "Power", "W")] = 0.0  # can be negative; = torque * engine rad/s
    torque: Annotated[float, ForzaField("f", "Torque", "N m")] = 0.0  # can be negative
    tire_temp_FL: Annotated[float, ForzaField("f", "TireTempFrontLeft", "deg F")] = 0.0
    tire_temp_FR: Annotated[float, ForzaField("f", "TireTempFrontRight", "deg F")] = 0.0
    tire_temp_RL: Annotated[float, ForzaField("f", "TireTempRearLeft", "deg F")] = 0.0
    tire_temp_RR: Annotated[float, ForzaField("f", "TireTempRearRight", "deg F")] = 0.0
    boost: Annotated[float, ForzaField("f", "Boost", "psi")] = 0.0  # gauge; -14.7 = full vacuum
    fuel: Annotated[float, ForzaField("f", "Fuel", "1")] = 0.0  # 1 = full
    dist_traveled: Annotated[float, ForzaField("f", "DistanceTraveled", "m")] = 0.0  # 0 in free roam
    best_lap_time: Annotated[float, ForzaField("f", "BestLap", "s")] = 0.0  # 0 if none
    last_lap_time: Annotated[float, ForzaField("f", "LastLap", "s")] = 0.0  # 0 if none
    cur_lap_time: Annotated[float, ForzaField("f", "CurrentLap", "s")] = 0.0  # 0 if none
    cur_race_time: Annotated[float, ForzaField("f", "CurrentRaceTime", "s")] = 0.0
    lap_no: Annotated[int, ForzaField("H", "LapNumber", "count")] = 0  # completed laps, 0 on the first lap
    race_pos: Annotated[int, ForzaField("B", "RacePosition", "rank")] = 0  # 0 when no race
    accel: Annotated[int, ForzaField("B", "Accel", "1/255")] = 0  # 0..255
    brake: Annotated[int, ForzaField("B", "Brake", "1/255")] = 0  # 0..255
    clutch: Annotated[int, ForzaField("B", "Clutch", "1/255")] = 0  # 0..255
    handbrake: Annotated[int, ForzaField("B", "HandBrake", "1/255")] = 0  # 0..255
    gear: Annotated[int, ForzaField("B", "Gear", "enum")] = 0  # 0 reverse, 1..N, 11 = shifting (FH6)
    steer: Annotated[int, ForzaField("b", "Steer", "1/127")] = 0  # -127 full left .. 127 full right
    norm_driving_line: Annotated[int, ForzaField("b", "NormalizedDrivingLine", "1/127")] = 0  # + = car left of the line
    norm_ai_brake_diff: Annotated[int, ForzaField("b", "NormalizedAIBrakeDifference", "1/127")] = 0  # -127..127


class MotorsportBlock(NamedTuple):
    """The last 20 bytes of Forza Motorsport (2023)."""

    tire_wear_FL: Annotated[float, ForzaField("f", "TireWearFrontLeft", "1")] = 0.0  # 0 new .. 1 worn (inferred)
    tire_wear_FR: Annotated[float, ForzaField("f", "TireWearFrontRight", "1")] = 0.0
    tire_wear_RL: Annotated[float, ForzaField("f", "TireWearRearLeft", "1")] = 0.0
    tire_wear_RR: Annotated[float, ForzaField("f", "TireWearRearRight", "1")] = 0.0
    track_ordinal: Annotated[int, ForzaField("i", "TrackOrdinal", "id")] = 0


def block_fields(block: type) -> dict[str, ForzaField]:
    """Return {field name: ForzaField} of a block, in the order of its bytes."""
    hints = get_type_hints(block, include_extras=True)
    return {name: get_args(hint)[1] for name, hint in hints.items()}


def build_struct(*blocks: type) -> Struct:
    """Return the structure of consecutive blocks: little-endian, no padding."""
    return Struct("<" + "".join(wire.code for block in blocks for wire in block_fields(block).values()))
