"""CarData messages as the link sees them: only the numbers that a state has fields for."""

from trailbrake.sims.assetto import convert


def select_subset(message):
    """Return the numbers of a whole CarData message that `codec.decode_car_subset` decodes."""
    wheels = [
        number
        for w in message.wheels
        for number in (*w.contact_point, w.slip_ratio, w.load, w.pressure, w.angular_velocity, w.wear,
                       w.core_temperature, w.camber_rad, w.disc_temperature, w.slip_angle_deg, w.nd_slip)
    ]  # fmt: skip
    m = message
    return (
        *m[:10], *m.acc_g, *m.look, *m.up, *m.position, *m.local_velocity, *m.local_angular_velocity, *m.car_damage,
        *wheels,
        m.abs_in_action, m.traction_control_in_action, m.lap_time_ms, m.best_lap_time_ms, m.spline_position,
        m.collision_depth, m.collision_counter, m.wheels_valid_surface,
    )  # fmt: skip


def state_of(message):
    """Return the state of a whole CarData message."""
    return convert.state_from_wire(select_subset(message))
