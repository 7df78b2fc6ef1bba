"""A client with the habits of gym-donkeycar 1.3 in front of the donkeycar simulator, without threads and sleeps.

Its habits: bare JSON without line ends, several messages in one packet; it loads its level by a fixed name and gives up
where the list of scenes has none of that name; it reads up to the last "}" before a newline; it holds the brake, resets
the car, and only some time later forgets laps and begins to listen for the starting line.
"""

import json
import socket


class GymDonkeycarClient:
    """One car. `receive()` handles what has come.

    Attributes:
        telemetry: the newest.
        lap_times: s, of the laps since the reset.
        loaded: whether the car stands in its scene.
    """

    def __init__(self, port, level="generated_track"):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.level, self.loaded, self.telemetry, self.buffer = level, False, None, ""
        self.forget_laps()

    def forget_laps(self):
        self.lap_started, self.lap_times = 0.0, []

    def send(self, *messages):
        self.socket.sendall("".join(json.dumps(message) for message in messages).encode())

    def send_control(self, steering, throttle, brake=0.0):
        self.send({"msg_type": "control", "steering": str(steering), "throttle": str(throttle), "brake": str(brake)})

    def receive(self):
        try:
            while data := self.socket.recv(1 << 18):
                self.buffer += data.decode()
        except BlockingIOError:
            pass
        end = self.buffer.rfind("}\n")
        if end >= 0:
            messages, self.buffer = self.buffer[: end + 1], self.buffer[end + 1 :]
            for text in messages.split("\n"):
                if len(text) > 2:
                    self.handle(json.loads(text))

    def handle(self, message):
        kind = message["msg_type"]
        if kind == "scene_selection_ready":
            self.send({"msg_type": "get_scene_names"})
        elif kind == "scene_names":
            if self.level not in message["scene_names"]:
                raise ValueError(f"Scene name {self.level} not in scene list {message['scene_names']}")
            self.send({"msg_type": "load_scene", "scene_name": self.level})
        elif kind == "car_loaded":
            self.loaded = True
            self.send(
                {"msg_type": "control", "steering": "0", "throttle": "0", "brake": "1.0"},
                {"msg_type": "car_config", "body_style": "car01", "body_r": "128", "body_g": "128", "body_b": "128",
                 "car_name": 'a "braced" {name}\\', "font_size": "100"},
                {"msg_type": "cam_config", "fov": "0", "fish_eye_x": "0.0", "fish_eye_y": "0.0", "img_w": "80",
                 "img_h": "60", "img_d": "3", "img_enc": "0", "offset_x": "0.0", "offset_y": "0.0", "offset_z": "0.0",
                 "rot_x": "0.0", "rot_y": "0.0", "rot_z": "0.0"},
            )  # fmt: skip
        elif kind == "telemetry":
            self.telemetry = message
        elif kind == "collision_with_starting_line":
            if self.lap_started == 0.0:
                self.lap_started = message["timeStamp"]
            else:
                self.lap_times.append(message["timeStamp"] - self.lap_started)
                self.lap_started = message["timeStamp"]

    def reset(self, wait):
        """Do as the environment's `reset`; `wait()` is its second of sleep."""
        self.send_control(0, 0, 1.0)
        self.send({"msg_type": "reset_car"})
        wait()
        self.receive()
        self.forget_laps()
        self.send_control(0, 0, 1.0)

    def drive_by_line(self):
        """Answer the newest telemetry: steer against the distance to the line and the heading."""
        cte, speed = self.telemetry["cte"], self.telemetry["speed"]
        change = (cte - getattr(self, "last_cte", cte)) * 20.0
        self.last_cte = cte
        steering = max(-1.0, min(-0.12 * cte - 0.16 * change, 1.0))
        self.send_control(steering, 0.5 if speed < 11.0 else 0.0)

    def close(self):
        self.socket.close()
