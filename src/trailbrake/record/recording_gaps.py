"""What a recording lacks of what laps, cars and drivers are judged by."""

import numpy as np

from trailbrake.record.recording_reader import Recording

# In words, and the columns of which one is enough.
_WANTED = {
    "positions": ("x",),
    "throttle": ("throttle",),
    "brake": ("brake",),
    "steer": ("steer", "steering_wheel_angle"),
    "gear": ("gear",),
    "engine speed": ("engine_speed",),
    "accelerations": ("acceleration_y",),
    "yaw rate": ("yaw_rate",),
    "slip of the body": ("velocity_y",),
    "wheel speeds": ("fl_angular_velocity", "rl_angular_velocity"),
}
_TOUCHED = ("throttle", "brake", "steer", "gear")


def list_gaps(recording: Recording) -> list[str]:
    """Return what is missing, one part of a sentence each: laps, channels, controls that were never touched."""
    gaps = [] if recording.laps else ["no finished lap"]
    if not len(recording):
        return [*gaps, "no samples"]
    missing = []
    for words, columns in _WANTED.items():
        known = [values for values in (recording.state[name] for name in columns) if np.isfinite(values).any()]
        if not known:
            missing.append(words)
        elif words in _TOUCHED and all(np.nanmax(values) == np.nanmin(values) for values in known):
            gaps.append(f"the {words} never changes" if words == "gear" else f"the {words} is never touched")
    return [*gaps, *([f"not recorded: {', '.join(missing)}"] if missing else [])]
