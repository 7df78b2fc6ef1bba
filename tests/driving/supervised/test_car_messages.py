import math
import socket
import struct
import threading
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.driving.spec import DriveSpec, LiveSite
from trailbrake.driving.supervised.car_messages import (
    LARGEST_MESSAGE,
    CarOpened,
    CarProblem,
    CarRequest,
    CarSample,
    ChannelClosed,
    KeeperMessageDecoder,
    LeaveCar,
    MessageChannel,
    OpenCar,
    StepAnswer,
    StillWaiting,
    decode_program_message,
    encode_message,
    encode_request,
    make_picture,
)
from trailbrake.errors import UsageError, WireError
from trailbrake.state import CarState, Controls, DebugLine, Image, Pose, SignalValues, SimCommand, WheelTorque
from trailbrake.state.car_state import OtherCar, Phase
from trailbrake.state.commands import find_command_problem
from trailbrake.state.tables import controls_row, state_row
from trailbrake.transport.capture.picture_scaling import CapturedImage
from trailbrake.transport.image_codec import encode_image

PIXELS = np.full((12, 16, 3), 90, np.uint8)


def pass_on(state, has_picture=False, picture=None, decoder=None):
    decoder = decoder or KeeperMessageDecoder()
    message = CarSample(state, has_picture, picture, (1.0, math.nan), 0.003, (5, 4, 3, 2, 1))
    return decoder.decode(encode_message(message))


def test_a_state_arrives_as_it_was():
    state = CarState(time=1.5, sequence=7, speed=np.float64(20.0), gear=3, phase=Phase.PAUSED,
                     others=[OtherCar(index=2, x=5.0)], line_ahead=((1.0, 2.0), (3.0, 4.0)))  # fmt: skip
    state.wheels[2].load = 3000.0
    sample = pass_on(state)
    got = sample.state
    assert repr(state_row(got)) == repr(state_row(state)).replace("np.float64(20.0)", "20.0")
    assert got.phase is Phase.PAUSED
    assert (got.gear, got.line_ahead, got.others[0].index, got.others[0].x) == (3, state.line_ahead, 2, 5.0)
    assert got.wheels[2].load == 3000.0
    assert got.image is None
    assert len(got.signals) == 0
    assert (sample.counters, sample.custom[0], sample.pace) == ((5, 4, 3, 2, 1), 1.0, None)


def test_signals_arrive_by_name():
    decoder = KeeperMessageDecoder()
    opened = CarOpened(frozenset({"steer"}), 0.005, ("beamng.fuel", "beamng.clutch"), 50)
    assert decoder.decode(encode_message(opened)) == opened
    state = CarState(signals=SignalValues({"beamng.fuel": 0, "beamng.clutch": 1}, (0.5, math.nan)))
    got = pass_on(state, decoder=decoder).state.signals
    assert dict(got.items())["beamng.fuel"] == 0.5
    assert math.isnan(got["beamng.clutch"])
    assert got == state.signals


def test_a_picture_is_sent_once_and_stays():
    decoder = KeeperMessageDecoder()
    image = Image(encode_image(PIXELS), lambda data: PIXELS)
    first = pass_on(CarState(image=image), True, make_picture(image), decoder).state.image
    assert first.data == image.data
    assert first.pixels.shape == (12, 16, 3)
    assert not first.is_damaged
    assert pass_on(CarState(image=image), True, None, decoder).state.image is first
    assert pass_on(CarState(), False, None, decoder).state.image is None


def test_a_damaged_picture_is_the_one_before_and_a_first_one_is_black():
    for start, level in ((b"", 0.0), (encode_image(PIXELS), 90.0)):
        decoder = KeeperMessageDecoder()
        if start:
            good = Image(start, lambda data: PIXELS)
            assert pass_on(CarState(), True, make_picture(good), decoder).state.image.pixels.mean() == level
        damaged = Image(b"\xff\xd8 no picture", lambda data: PIXELS)
        got = pass_on(CarState(), True, make_picture(damaged), decoder).state.image
        assert got.is_damaged
        assert got.pixels.mean() == level


def test_a_captured_picture_keeps_its_number_and_time():
    image = CapturedImage(PIXELS, 3, 12.5)
    got = pass_on(CarState(), True, make_picture(image)).state.image
    assert isinstance(got, CapturedImage)
    assert (got.number, got.taken_at, got.data) == (3, 12.5, image.data)
    assert (got.pixels == image.pixels).all()


def test_an_answer_arrives_as_it_was():
    controls = Controls(steer=math.nan, throttle=0.5, gear=-1, wheels=(WheelTorque(1.0, 2.0),) * 4, custom=(1.0, 2.0))
    got = decode_program_message(encode_message(StepAnswer(controls, (3.0,), True)))
    assert repr(controls_row(got.controls)) == repr(controls_row(controls))
    assert (got.controls.gear, got.controls.custom, got.custom, got.repeats) == (-1, (1.0, 2.0), (3.0,), True)


def test_commands_arrive_as_they_were_and_still_fit():
    line = DebugLine((0.0, 1.0, 2.0), (3.0, 4.0, 5.0), 0xFF0000)
    command = SimCommand(pause=True, teleport=Pose(1.0, 2.0, yaw=0.5), time_scale=2, lines=(line,), mguh_mode=3)
    got = decode_program_message(encode_message(CarRequest(command))).command
    assert (got.pause, got.teleport.x, got.teleport.yaw, got.mguh_mode) == (True, 1.0, 0.5, 3)
    assert math.isnan(got.teleport.z)
    assert find_command_problem(got, frozenset({"pause", "teleport", "time_scale", "lines", "mguh_mode"})) == ""


def test_the_other_messages():
    decoder = KeeperMessageDecoder()
    problem = CarProblem("UsageError", ("what", "where", "", "", "hint"))
    assert decoder.decode(encode_message(problem)) == problem
    assert isinstance(decoder.decode(encode_message(StillWaiting())), StillWaiting)
    assert decode_program_message(encode_message(LeaveCar(True))).brakes


def test_options_are_sent_as_numbers_and_texts():
    options = {"contract": Path("a.csv"), "simulink_time": np.float32(0.5)}
    got = decode_program_message(encode_request(OpenCar(DriveSpec(site=LiveSite(sim="beamng", options=options)), 12)))
    sent = LiveSite(sim="beamng", options={"contract": "a.csv", "simulink_time": 0.5})
    assert (got.spec, got.pid) == (DriveSpec(site=sent), 12)
    with pytest.raises(UsageError, match="connect: an option that cannot be sent to another process"):
        encode_request(OpenCar(DriveSpec(site=LiveSite(options={"wait": [object()]})), 0))


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x93\xa6answer\x01\x02", msgspec.msgpack.encode(["sample", {}])])
def test_bytes_that_are_no_message_are_an_error(data):
    with pytest.raises(WireError, match="no message of a program"):
        decode_program_message(data)
    with pytest.raises(WireError, match="no message of a keeper"):
        KeeperMessageDecoder().decode(data)


@pytest.fixture
def ends():
    one, other = socket.socketpair()
    channels = MessageChannel(one), MessageChannel(other)
    yield channels
    for channel in channels:
        channel.close()


@given(st.lists(st.binary(max_size=300), max_size=20), st.integers(1, 50))
def test_messages_arrive_whole_and_in_order_however_the_bytes_are_cut(messages, piece):
    one, other = socket.socketpair()
    with one, other:
        channel = MessageChannel(other)
        data = b"".join(struct.pack("<I", len(message)) + message for message in messages)
        got = []
        for at in range(0, len(data), piece):
            one.sendall(data[at : at + piece])
            while (message := channel.receive(0.0)) is not None:
                got.append(message)
        assert got == messages


def test_nothing_is_none_and_a_closed_end_is_an_event(ends):
    one, other = ends
    assert one.receive(0.0) is None
    assert one.receive(0.001) is None
    other.send(b"last words")
    other.close()
    assert one.receive(1.0) == b"last words"
    with pytest.raises(ChannelClosed):
        one.receive(1.0)
    with pytest.raises(ChannelClosed):
        one.send(b"x")


def test_who_has_finished_sending_still_receives(ends):
    one, other = ends
    one.finish_sending()
    with pytest.raises(ChannelClosed):
        other.receive(1.0)
    other.send(b"answer")
    assert one.receive(1.0) == b"answer"
    other.close()
    one.finish_sending()


def test_a_sender_that_has_to_wait_says_so(ends):
    one, other = ends
    waits, received = [], []
    large = bytes(4 << 20)

    def note_wait():
        waits.append(1)
        if len(waits) == 2:
            reader.start()

    reader = threading.Thread(target=lambda: received.append(other.receive(30.0)))
    one.send(large, note_wait)
    reader.join()
    assert received == [large]
    assert len(waits) >= 2


def test_an_impossible_length_is_an_error():
    one, other = socket.socketpair()
    with one, other:
        one.sendall(struct.pack("<I", LARGEST_MESSAGE + 1))
        with pytest.raises(WireError, match="no length of a message"):
            MessageChannel(other).receive(1.0)
