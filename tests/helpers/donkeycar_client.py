"""A client of the donkeycar simulator in our own words, from the public list of messages: sockets and json alone."""

import json
import socket


class Script:
    """Loads the first scene, asks for a small camera, drives by `cte` until the starting line has come `lines` times.

    Attributes:
        kinds: of the messages that came, each once, in the order in which they first came.
        last: the newest telemetry.
        crossed: time stamps of the starting line.
    """

    def __init__(self, port, lines=2):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20.0)
        self.kinds, self.last, self.crossed, self.lines = [], None, [], lines
        self.before, self.telemetries = 0.0, 0

    def say(self, msg_type, **data):
        message = {"msg_type": msg_type} | {key: str(value) for key, value in data.items()}
        self.socket.sendall(json.dumps(message).encode())  # no line end, as gym-donkeycar does it

    def run(self):
        with self.socket, self.socket.makefile(encoding="utf-8") as lines:
            for line in lines:
                self.hear(json.loads(line))
                if len(self.crossed) >= self.lines:
                    return

    def hear(self, message):
        kind = message["msg_type"]
        if kind not in self.kinds:
            self.kinds.append(kind)
        if kind == "scene_selection_ready":
            self.say("get_scene_names")
        elif kind == "scene_names":
            self.say("load_scene", scene_name=message["scene_names"][0])
        elif kind == "car_loaded":
            self.say(
                "car_config", body_style="donkey", body_r=10, body_g=20, body_b=30, car_name="script", font_size=50
            )
            self.say("cam_config", img_w=80, img_h=60, img_d=3, img_enc="PNG", fov=0, fish_eye_x=0.0, fish_eye_y=0.0,
                     offset_x=0.0, offset_y=0.0, offset_z=0.0, rot_x=0.0, rot_y=0.0, rot_z=0.0)  # fmt: skip
        elif kind == "collision_with_starting_line":
            self.crossed.append(message["timeStamp"])
        elif kind == "telemetry":
            self.drive(message)

    def drive(self, message):
        cte = message["cte"]
        change = (cte - self.before) * 20.0  # m/s: 20 telemetries a second
        self.before, self.last = cte, message
        self.telemetries += 1
        steering = max(-1.0, min(-0.12 * cte - 0.16 * change, 1.0))
        self.say("control", steering=steering, throttle=0.4 if message["speed"] < 11.0 else 0.0, brake=0.0)
