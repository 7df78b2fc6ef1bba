"""The bytes of each wire as its protocol page describes them: where speed, clock and pedals are. Not our codecs."""

import json
import math
import random
import struct

from faults.trace import Command

MPH = 0.44704
HOUR_S = 3600.0
NUMBERS = ("speed", "cte", "x", "y", "psi", "pos_x", "pos_z", "yaw")


class ByteView:
    """A wire of fixed bytes.

    Attributes:
        floats: offsets of the values that become NaN in a damaged state.
        places: those of the car's two level coordinates.
        number: struct format of these values.
    """

    floats: tuple = ()
    places: tuple = ()  # offsets of the two level coordinates
    number = "<f"

    def place(self, data):
        """Return where the car is, x and y in m of a level plane; None where the wire does not say."""
        return tuple(struct.unpack_from(self.number, data, offset)[0] for offset in self.places)

    def set_values(self, data, value, draw=None):
        """Return the state with `value` where speed, place and direction are; with `draw` in a few of these."""
        changed = bytearray(data)
        for offset in draw.sample(self.floats, draw.randint(1, 4)) if draw else self.floats:
            struct.pack_into(self.number, changed, offset, value)
        return bytes(changed)

    def cut(self, data):
        return data[: len(data) // 2]

    def scramble(self, data, draw):
        return draw.randbytes(len(data))


class AssettoView(ByteView):
    """Pages Car0 (672 bytes) and CarControls0 (72 bytes)."""

    floats = (8, 16, 36, 40, 44, 48, 64, 68, 72, 88, 92, 96, 656)
    places = (88, 96)
    rate, wrap_at = 333, 1 << 31

    def speed(self, data):
        return struct.unpack_from("<f", data, 36)[0] / 3.6

    def command(self, data):
        return Command(*struct.unpack_from("<2f", data))

    def clock(self, data):
        return struct.unpack_from("<i", data)[0]

    def shift_clock(self, data, shift):
        return struct.pack("<I", (self.clock(data) + shift) % self.wrap_at) + data[4:]


class ForzaView(ByteView):
    """Datagrams of 324 bytes (Horizon) and pad reports of 12."""

    floats = (20, 28, 56, 60, 64, 244, 248, 252, 256)
    places = (244, 252)
    rate, wrap_at = 1000, 1 << 32

    def speed(self, data):
        return struct.unpack_from("<f", data, 256)[0]

    def command(self, data):
        _, left, right, *_ = struct.unpack("<H2B4h", data)
        return Command(right / 255.0, left / 255.0)

    def clock(self, data):
        return struct.unpack_from("<I", data, 4)[0]

    def shift_clock(self, data, shift):
        race = struct.unpack_from("<f", data, 308)[0] + shift / 1000.0
        changed = bytearray(data)
        struct.pack_into("<I", changed, 4, (self.clock(data) + shift) % self.wrap_at)
        struct.pack_into("<f", changed, 308, max(race, 0.0) if abs(shift) <= HOUR_S * 1000 else race % 100.0)
        return bytes(changed)


class BeamngView(ByteView):
    """Messages of 111 doubles, commands of 64."""

    floats = tuple(8 * slot for slot in (9, 11, 12, 13, 14, 15, 17, 23))
    places = (88, 96)
    number = "<d"
    rate, wrap_at = 200, 1 << 53

    def speed(self, data):
        return struct.unpack_from("<d", data, 17 * 8)[0]

    def command(self, data):
        throttle, brake = struct.unpack_from("<2d", data, 8)
        return Command(*(0.0 if math.isnan(v) else v for v in (throttle, brake)))

    def clock(self, data):
        return int(struct.unpack_from("<d", data)[0])

    def shift_clock(self, data, shift):
        return struct.pack("<d", max((self.clock(data) + shift), 0) % self.wrap_at) + data[8:]


class JsonView:
    """A wire of JSON text. `unit`: m/s per unit of speed. `as_text`: whether numbers are strings."""

    rate, wrap_at = 1, None  # a decimal number has no width

    def __init__(self, unit=1.0, as_text=True):
        self.unit, self.as_text = unit, as_text

    def telemetry(self, data):
        """Return what comes before the telemetry, its object, what comes after; None where there is none."""
        text = data.decode()
        if '"telemetry"' not in text[:40] or "{" not in text:
            return None
        begin, end = text.index("{"), text.rindex("}") + 1
        return text[:begin], json.loads(text[begin:end]), text[end:]

    def speed(self, data):
        parts = self.telemetry(data)
        return float(parts[1]["speed"]) * self.unit if parts and "speed" in parts[1] else None

    def place(self, data):
        found = (self.telemetry(data) or ("", {}))[1]
        for names in (("pos_x", "pos_z"), ("x", "y")):
            if set(names) <= set(found):
                return tuple(float(found[name]) for name in names)
        return None

    def clock(self, data):
        parts = self.telemetry(data)
        return float(parts[1]["time"]) if parts and "time" in parts[1] else None

    def _change(self, data, **values):
        parts = self.telemetry(data)
        if parts is None:
            return data
        before, found, after = parts
        found |= {k: (str(v) if self.as_text else v) for k, v in values.items() if k in found}
        return (before + json.dumps(found) + after).encode()

    def set_values(self, data, value, draw=None):
        names = [name for name in NUMBERS if name in (self.telemetry(data) or ("", {}))[1]]
        chosen = draw.sample(names, draw.randint(1, len(names))) if draw and names else names
        return self._change(data, **dict.fromkeys(chosen, value))

    def set_picture(self, data, picture):
        """Return a telemetry with another picture, base64; without one for None."""
        parts = self.telemetry(data)
        if parts is None:
            return data
        before, found, after = parts
        found = {k: v for k, v in found.items() if k != "image"} | ({} if picture is None else {"image": picture})
        return (before + json.dumps(found) + after).encode()

    def picture(self, data):
        return self.telemetry(data)[1].get("image")

    def shift_clock(self, data, shift):
        clock = self.clock(data)
        return data if clock is None else self._change(data, time=max(clock + shift, 0.0))

    def cut(self, data):
        return data[: len(data) // 2]

    def scramble(self, data, draw):
        return bytes(draw.choices(range(32, 127), k=min(len(data), 2000)))


class EventView(JsonView):
    """Socket.IO: 42["telemetry",{...}] and 42["steer",{...}]."""

    def command(self, data):
        text = data.decode()
        if '"steer"' not in text[:20]:
            return None
        pedal = float(json.loads(text[text.index("{") : text.rindex("}") + 1])["throttle"])
        return Command(max(pedal, 0.0), max(-pedal, 0.0))


class DonkeycarView(JsonView):
    """JSON objects by lines, their kind under msg_type."""

    def telemetry(self, data):
        try:
            found = json.loads(data)
        except ValueError:
            return None
        return ("", found, "\n") if found.get("msg_type") == "telemetry" else None

    def command(self, data):
        try:
            found = json.loads(data)
        except ValueError:
            return None
        if found.get("msg_type") != "control":
            return None
        pedal = float(found["throttle"])
        return Command(max(pedal, 0.0), max(-pedal, float(found.get("brake", 0.0)), 0.0))

    def cut(self, data):
        return data[: len(data) // 2] + b"\n"

    def scramble(self, data, draw):
        return super().scramble(data, draw).replace(b"{", b"(") + b"\n"


def seeded(seed=1):
    return random.Random(seed)


VIEWS = {
    "assetto": AssettoView(),
    "forza": ForzaView(),
    "beamng": BeamngView(),
    "trend": EventView(),
    "udacity": EventView(MPH),
    "udacity_pid": EventView(MPH),
    "udacity_mpc": EventView(MPH, as_text=False),
    "donkeycar": DonkeycarView(as_text=False),
}
