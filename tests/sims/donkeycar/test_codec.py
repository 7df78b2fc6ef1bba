"""Lines of protocol page formula-trend, section 10, by hand: numbers from the simulator, text from clients."""

import base64
import json

import pytest

from trailbrake.errors import WireError
from trailbrake.sims.donkeycar import codec
from trailbrake.sims.donkeycar.codec import CamConfig, DonkeycarControl, DonkeycarTelemetry

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACklEQVQIHWMAAgAABAABDTukuQAAAABJRU5ErkJggg=="
OLD = (
    '{"msg_type":"telemetry","steering_angle":-0.5,"throttle":0.25,"speed":3.5,"image":"' + PNG + '","hit":"none",'
    '"time":12.25,"pos_x":49.5,"pos_y":0.75,"pos_z":51.0,"cte":-0.75}'
)
NEW = (
    OLD[:-1].replace(',"cte":-0.75', "")
    + ',"vel_x":1.0,"vel_y":0.0,"vel_z":3.0,"gyro_x":0.0,"gyro_y":0.5,"gyro_z":0.0,'
    '"pitch":358.0,"yaw":20.0,"roll":1.0,"cte":-0.75}'
)
AT_OLD = DonkeycarTelemetry(-0.5, 0.25, 3.5, base64.b64decode(PNG), "none", (49.5, 0.75, 51.0), 12.25, -0.75)
AT_NEW = AT_OLD._replace(vel=(1.0, 0.0, 3.0), gyro=(0.0, 0.5, 0.0), angles=(358.0, 20.0, 1.0))


@pytest.mark.parametrize(("line", "message"), [(OLD, AT_OLD), (NEW, AT_NEW)])
def test_the_golden_telemetry_of_older_and_newer_simulators_both_ways(line, message):
    kind, data = codec.decode_message(line)
    assert (kind, codec.decode_telemetry(data)) == ("telemetry", message)
    assert json.loads(codec.encode_message("telemetry", codec.encode_telemetry(message))) == json.loads(line)


def test_a_scene_without_a_line_and_a_locale_with_commas():
    data = json.loads(OLD)
    del data["cte"], data["msg_type"]
    assert codec.decode_telemetry(data | {"speed": "3,5"}) == AT_OLD._replace(cte=None)


def test_the_golden_control_both_ways_is_text():
    line = '{"msg_type":"control","steering":"-0.25","throttle":"0.5","brake":"0.0"}'
    assert codec.encode_message("control", codec.encode_control(DonkeycarControl(-0.25, 0.5, 0.0))) == line
    kind, data = codec.decode_message(line)
    assert (kind, codec.decode_control(data)) == ("control", DonkeycarControl(-0.25, 0.5, 0.0))
    assert codec.decode_control({"steering": "2", "throttle": "-3", "brake": "-1"}) == DonkeycarControl(1.0, -1.0, 0.0)


def test_the_golden_camera_of_a_gym_client():
    line = (
        '{"msg_type":"cam_config","fov":"100","fish_eye_x":"0.0","fish_eye_y":"0.0","img_w":"256","img_h":"256",'
        '"img_d":"3","img_enc":"PNG","offset_x":"0.0","offset_y":"1.5","offset_z":"-1.0","rot_x":"10.0","rot_y":"0.0",'
        '"rot_z":"0.0"}'
    )
    kind, data = codec.decode_message(line)
    assert (kind, codec.decode_cam_config(data)) == (
        "cam_config", CamConfig("PNG", 256.0, 256.0, 100.0, 0.0, 1.5, -1.0, 10.0, 0.0),
    )  # fmt: skip
    assert codec.decode_cam_config({"img_enc": "0"}) == CamConfig()
    with pytest.raises(WireError, match="img_enc: no such encoding, expected JPG, PNG or TGA, got BMP"):
        codec.decode_cam_config({"img_enc": "BMP"})


@pytest.mark.parametrize(
    ("line", "words"),
    [("", "message: no JSON"), ("{", "message: no JSON"), ("[1]", "message: not an object"),
     ("{}", "msg_type: not a kind"), ('{"msg_type":5}', "msg_type: not a kind")],
)  # fmt: skip
def test_what_is_no_message(line, words):
    with pytest.raises(WireError, match=words):
        codec.decode_message(line)


@pytest.mark.parametrize("change", [{"image": None}, {"hit": 5}, {"pos_y": "high"}, {"time": None}, {"vel_y": None}])
def test_an_unreadable_key_is_named(change):
    _, data = codec.decode_message(NEW)
    with pytest.raises(WireError, match=f"^{next(iter(change))}: "):
        codec.decode_telemetry(data | change)


@pytest.mark.parametrize("names", [None, "road", [1], {"a": 1}])
def test_scenes_are_names(names):
    assert codec.decode_scene_names({"scene_names": ["road", "lake"]}) == ["road", "lake"]
    with pytest.raises(WireError, match="scene_names: not a list of names"):
        codec.decode_scene_names({"scene_names": names})


FULL = {
    "steering_angle": -0.5, "throttle": 0.25, "speed": 3.5, "image": PNG, "hit": "wall", "time": 12.25, "pos_x": 1.0,
    "pos_y": 2.0, "pos_z": 3.0, "vel_x": 4.0, "vel_y": 5.0, "vel_z": 6.0, "gyro_x": 7.0, "gyro_y": 8.0, "gyro_z": 9.0,
    "pitch": 10.0, "yaw": 11.0, "roll": 12.0, "cte": -0.75,
}  # fmt: skip


def test_each_field_stands_under_its_key():
    message = codec.decode_telemetry(FULL)
    assert message == DonkeycarTelemetry(
        -0.5, 0.25, 3.5, base64.b64decode(PNG), "wall", (1.0, 2.0, 3.0), 12.25, -0.75, (4.0, 5.0, 6.0),
        (7.0, 8.0, 9.0), (10.0, 11.0, 12.0),
    )  # fmt: skip
    assert codec.encode_telemetry(message) == FULL


def test_what_a_simulator_may_leave_out():
    data = {"speed": 1.0, "image": PNG, "time": 2.0, "pos_x": 1.0, "pos_y": 2.0, "pos_z": 3.0}
    message = codec.decode_telemetry(data)
    assert message == DonkeycarTelemetry(0.0, 0.0, 1.0, base64.b64decode(PNG), "none", (1.0, 2.0, 3.0), 2.0)
    assert codec.decode_control({"steering": 0.5, "throttle": 0.25}) == DonkeycarControl(0.5, 0.25, 0.0)
    assert codec.decode_control({"steering": 0, "throttle": 0, "brake": 3}).brake == 1.0


@pytest.mark.parametrize("key", [key for key in FULL if key not in ("image", "hit")])
def test_an_unreadable_number_is_one_line(key):
    with pytest.raises(WireError) as caught:
        codec.decode_telemetry(FULL | {key: "x" * 60})
    assert str(caught.value) == f"{key}: not a number, got {'x' * 40}"


LONG = ["ab"] * 60


@pytest.mark.parametrize(
    ("decode", "data", "line"),
    [(codec.decode_telemetry, FULL | {"hit": LONG}, f"hit: not a name, got {str(LONG)[:40]}"),
     (codec.decode_telemetry, FULL | {"image": None}, "image: not base64, got None"),
     (codec.decode_control, {"throttle": 1}, "steering: not a number, got None"),
     (codec.decode_control, {"steering": 1}, "throttle: not a number, got None"),
     (codec.decode_control, {"steering": 1, "throttle": 1, "brake": "x"}, "brake: not a number, got x"),
     (codec.decode_cam_config, {"fov": "x"}, "fov: not a number, got x"),
     (codec.decode_cam_config, {"img_enc": LONG},
      f"img_enc: no such encoding, expected JPG, PNG or TGA, got {str(LONG)[:40]}"),
     (codec.decode_scene_names, {"scene_names": 5}, "scene_names: not a list of names, got 5"),
     (codec.decode_scene_names, {"scene_names": [*LONG, 5]}, f"scene_names: not a list of names, got {str(LONG)[:40]}"),
     (codec.decode_message, json.dumps({"msg_type": LONG}), f"msg_type: not a kind of message, got {str(LONG)[:40]}"),
     (codec.decode_message, "[1]", "message: not an object, got [1]")],
)  # fmt: skip
def test_what_cannot_be_read_is_one_line(decode, data, line):
    with pytest.raises(WireError) as caught:
        decode(data)
    assert str(caught.value) == line


def test_text_that_is_no_json_is_quoted_in_part():
    with pytest.raises(WireError, match=rf"^message: no JSON: .*, got {'x' * 40}$"):
        codec.decode_message("x" * 60)


@pytest.mark.parametrize("form", ["0", 0, "", "0.0"])
def test_no_encoding_is_the_usual_one(form):
    assert codec.decode_cam_config({"img_enc": form}) == CamConfig()
    assert CamConfig() == ("JPG", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_messages_without_data_and_the_words_of_the_wire():
    assert codec.encode_message("get_scene_names") == '{"msg_type":"get_scene_names"}'
    assert codec.encode_message(codec.LOAD_SCENE, {"scene_name": "road"}) == (
        '{"msg_type":"load_scene","scene_name":"road"}'
    )
    assert (codec.SCENE_SELECTION_READY, codec.SCENE_NAMES, codec.CAR_LOADED, codec.NEED_CAR_CONFIG) == (
        "scene_selection_ready", "scene_names", "car_loaded", "need_car_config",
    )  # fmt: skip
    assert (codec.TELEMETRY, codec.STARTING_LINE, codec.GET_SCENE_NAMES, codec.LOAD_SCENE, codec.EXIT_SCENE) == (
        "telemetry", "collision_with_starting_line", "get_scene_names", "load_scene", "exit_scene",
    )  # fmt: skip
    assert (codec.CAR_CONFIG, codec.CAM_CONFIG, codec.CONTROL, codec.RESET_CAR) == (
        "car_config", "cam_config", "control", "reset_car",
    )  # fmt: skip
    assert (codec.GET_PROTOCOL_VERSION, codec.PROTOCOL_VERSION) == ("get_protocol_version", "protocol_version")


@pytest.mark.parametrize(
    ("text", "readable"), [('{"msg_type":"control"}', True), ('{"msg_type":5}', False), ("{}", False), ("junk", False)]
)
def test_whether_a_text_is_a_message(text, readable):
    assert codec.is_message(text) is readable


@pytest.mark.parametrize(
    ("data", "form"), [({}, "JPG"), *(({"img_enc": name}, name) for name in ("JPG", "PNG", "TGA"))]
)
def test_the_encodings_of_a_camera(data, form):
    assert codec.decode_cam_config(data).img_enc == form
