"""State messages as a simulator sends them."""

from trailbrake.sims.beamng import codec, convert


def encode_state(message):
    """Return the bytes of a StateMessage, through the two steps in which a host encodes one."""
    controller = codec.ControllerPart(message.throttle_input, message.brake_input, message.steering_input,
                                      message.clutch_input, message.parkingbrake_input)  # fmt: skip
    return codec.finish_state(codec.encode_partial_state(message[:-1]), message[0], controller, message.custom)


def message_of(state, car, message_id=0, latched=None):
    """Return the StateMessage that a host sends of `state`."""
    partial = convert.state_to_wire(state, car)
    return codec.decode_state(convert.finish_message(partial, message_id, latched or convert.LatchedCommand()))
