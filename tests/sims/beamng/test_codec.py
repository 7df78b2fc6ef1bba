"""The codec against hand-made bytes, against an independent parser, and against rubbish."""

import hashlib
import json
import math
from array import array
from pathlib import Path

import pytest
from helpers.beamng.state_bytes import encode_state
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import WireError
from trailbrake.sims.beamng import codec

GOLDEN = Path(__file__).parents[2] / "golden" / "wire" / "beamng"
THROTTLE_EXAMPLE = codec.SignalCodec(2)


def golden(case):
    """Return bytes and values of a case; the file's null is NaN."""
    about = json.loads((GOLDEN / f"{case}.json").read_text())
    data = bytes.fromhex((GOLDEN / f"{case}.hex").read_text())
    assert hashlib.sha256(data).hexdigest() == about["sha256"]
    return data, [math.nan if v is None else v for v in about["values"]]


def flat(message):
    return [*message[:-1], *message[-1]]


def same(a, b):
    return len(a) == len(b) and all(x == y or (x != x and y != y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("case", ["state_count", "state"])
def test_a_state_byte_for_byte(case):
    data, values = golden(case)
    message = codec.decode_state(data)
    assert flat(message) == values
    assert encode_state(message) == data
    assert encode_state(codec.StateMessage(*values[:61], custom=tuple(values[61:]))) == data


def test_stale_banks_are_a_and_c_but_for_the_wheel_speed():
    new, old = (encode_state(codec.StateMessage(*v)) for v in (map(float, range(61)), [-1.0] * 61))
    stale = codec.decode_state(codec.hold_slow_banks(new, old))
    assert {k for k in range(61) if stale[k] == -1.0} == {*range(1, 11), *range(25, 36)}


@pytest.mark.parametrize("case", ["command_torque", "command_pedals"])
def test_a_command_byte_for_byte(case):
    data, values = golden(case)
    message = codec.decode_command(data)
    assert same(flat(message), values)
    assert codec.encode_command(message) == data
    assert codec.encode_command(codec.CommandMessage(*values[:14], custom=tuple(values[14:]))) == data


@pytest.mark.parametrize("case", ["signals_to", "signals_from"])
def test_signals_byte_for_byte(case):
    data, (message_id, *signals) = golden(case)
    assert THROTTLE_EXAMPLE.decode(data) == (message_id, tuple(signals))
    assert THROTTLE_EXAMPLE.encode(message_id, tuple(signals)) == data


def test_names_stand_where_the_game_has_them():
    """Slots as the tables of the protocol page number them, read off the message that counts its slots."""
    m = codec.decode_state(golden("state_count")[0])
    assert (m.message_id, m.throttle, m.steering, m.steering_input) == (0, 1, 9, 10)
    assert (m.posX, m.velX, m.groundspeed, m.accX, m.yaw, m.altitude) == (11, 14, 17, 18, 23, 24)
    assert (m.ignitionLevel, m.gear, m.maxrpm, m.rpm, m.wheelspeed) == (25, 26, 31, 33, 36)
    assert (m.wheelFL_angularVelocity, m.wheelFR_downForce) == (37, 48)
    assert (m.wheelRL_brakingTorque, m.wheelRR_wheelSpeed, m.wheelRR_downForce) == (51, 56, 60)
    assert m.custom == tuple(range(61, 111))


def test_commands_have_four_brakes_and_then_four_drives():
    m = codec.decode_command(golden("command_torque")[0])
    assert (m.throttle, m.steering, m.drive_mode) == (0.25, -0.125, 1.0)
    assert (m.wheelFL_brakingTorque, m.wheelRR_brakingTorque) == (-100.0, -103.0)
    assert (m.wheelFL_propulsionTorque, m.wheelRR_propulsionTorque) == (200.0, 203.0)


def test_other_nans_are_nans_too():
    data = bytearray(golden("command_pedals")[0])
    data[16:24] = bytes.fromhex("010000000000f4ff")
    assert math.isnan(codec.decode_command(bytes(data)).brake)


DECODERS = [
    (codec.decode_state, encode_state, 888),
    (codec.decode_command, codec.encode_command, 512),
    (THROTTLE_EXAMPLE.decode, lambda m: THROTTLE_EXAMPLE.encode(*m), 24),
]


@pytest.mark.parametrize(("decode", "encode", "size"), DECODERS)
@given(seed=st.binary(min_size=8, max_size=64))
def test_any_doubles_pass_through(decode, encode, size, seed):
    """Against the array module's reading of the same bytes."""
    data = (seed * 200)[:size]
    values = array("d", data)
    message = decode(data)
    flattened = [message[0], *message[1]] if size == 24 else flat(message)
    assert same(flattened, values.tolist())
    assert same(array("d", encode(message)), values)


@pytest.mark.parametrize(("decode", "encode", "size"), DECODERS)
def test_one_byte_too_few_or_too_many(decode, encode, size):
    decoders = (decode, codec.decode_state_subset) if size == 888 else (decode,)
    for wrong in (0, 7, size - 1, size + 1, 2 * size):
        for decode_any in decoders:
            with pytest.raises(WireError, match=f"expected {size} bytes, got {wrong}"):
                decode_any(bytes(wrong))


def test_what_is_seen_of_a_state_are_these_slots_and_the_free_values():
    seen = codec.decode_state_subset(golden("state_count")[0])
    slots = [0, 1, 3, 5, 7, 9, *range(11, 24), *range(26, 32), *range(33, 36)]
    for wheel in (37, 43, 49, 55):
        slots += [wheel, wheel + 2, wheel + 3, wheel + 5]
    assert seen == (*slots, tuple(range(61, 111)))


@given(data=st.binary(min_size=8, max_size=64))
def test_any_state_is_seen_as_the_whole_message_would_be(data):
    data = (data * 200)[:888]
    seen, whole = codec.decode_state_subset(data), codec.select_state_subset(codec.decode_state(data))
    assert same(flat(seen), flat(whole))
    assert same(flat(seen), flat(codec.select_subset_of_doubles(codec.decode_state_doubles(data))))


# ---- What a message without content is, and a state that is finished when its controller has answered ----


def test_messages_without_content_are_zeros():
    assert encode_state(codec.StateMessage()) == bytes(888)
    assert codec.encode_command(codec.CommandMessage()) == bytes(512)
    assert codec.decode_state(bytes(888)) == codec.StateMessage()
    assert codec.decode_command(bytes(512)) == codec.CommandMessage()
    assert codec.decode_state(bytes(888)).custom is codec.NO_CUSTOM
    assert codec.NO_CUSTOM == (0.0,) * 50
    assert (codec.DOUBLE, codec.CUSTOM_COUNT, codec.STATE_SIZE, codec.COMMAND_SIZE) == (8, 50, 888, 512)
    assert codec.ControllerPart(0.1, 0.2, 0.3) == (0.1, 0.2, 0.3, 0.0, 0.0)


def test_a_finished_state_has_the_controller_s_fields_and_all_others_of_its_partial():
    values = tuple(float(k) for k in range(61))
    partial = codec.encode_partial_state(values)
    controller = codec.ControllerPart(throttle=101.0, brake=102.0, steering=103.0, clutch=104.0, parkingbrake=105.0)
    plain, custom = (codec.finish_state(partial, 100.0, controller, *more) for more in ((), ((7.0,) * 50,)))
    expected = codec.StateMessage(*values)._replace(
        message_id=100.0, throttle_input=101.0, brake_input=102.0, clutch_input=104.0, parkingbrake_input=105.0,
        steering_input=103.0,
    )  # fmt: skip
    assert codec.decode_state(plain) == expected
    assert codec.decode_state(custom) == expected._replace(custom=(7.0,) * 50)


@pytest.mark.parametrize(
    ("decode", "line"),
    [(codec.decode_state, "a state message of another size, expected 888 bytes, got 5"),
     (codec.decode_state_subset, "a state message of another size, expected 888 bytes, got 5"),
     (codec.decode_state_doubles, "a state message of another size, expected 888 bytes, got 5"),
     (codec.decode_command, "a command message of another size, expected 512 bytes, got 5"),
     (THROTTLE_EXAMPLE.decode, "a message of signals of another size, expected 24 bytes, got 5")],
)  # fmt: skip
def test_a_message_of_another_size_is_one_line(decode, line):
    with pytest.raises(WireError) as caught:
        decode(bytes(5))
    assert str(caught.value) == line


@pytest.mark.parametrize("count", [0, 1, 7])
def test_a_contract_of_signals_sets_the_size_of_its_messages(count):
    signals = codec.SignalCodec(count)
    data = signals.encode(41.0, tuple(map(float, range(count))))
    assert len(data) == signals.size == 8 * (1 + count)
    assert signals.decode(data) == (41.0, tuple(map(float, range(count))))
