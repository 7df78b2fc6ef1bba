"""Camera frames drawn by casting one ray per pixel at walls and painted ground: the tests' own renderer."""

import numpy as np

FOCAL, COLUMN, ROW, ABOVE = 274.5, 159.5, 119.5, 0.05
LANE = 0.26  # m
SKY_B = [(0, (98, 123, 164)), (40, (109, 136, 179)), (80, (137, 167, 205)), (110, (189, 216, 235)),
         (120, (220, 235, 245))]  # fmt: skip
WALL_HEIGHT = {"A": 0.2, "B": 0.12}
A = {"r": (240, 92, 85), "b": (96, 126, 160), "g": (106, 176, 95)}


def sky(look):
    if look == "A":
        return np.full((240, 3), 255.0)
    rows, colours = zip(*SKY_B, strict=True)
    return np.column_stack([np.interp(np.arange(240), rows, [c[k] for c in colours]) for k in range(3)])


def paint(look, s, offset):
    """Colours of the six-lane road at stations and offsets (m, left positive), arrays of one shape."""
    lane = np.clip(np.floor(3.0 - offset / LANE), 0, 5).astype(int)
    if look == "A":
        return np.array([A[k] for k in "rbrgbg"])[lane]
    table = np.array([(255, 255, 255), (255, 39, 54), (255, 255, 255)] * 2)
    colours = table[lane]
    colours[abs(offset) < 0.4 * ABOVE] = (255, 39, 54)
    # Chevrons: apex forward on the middle of each red lane, every 1.5 m, 0.25 m long.
    for middle in (1.5 * LANE, -1.5 * LANE):
        across = abs(offset - middle)
        along = (s % 1.5) - 0.5 + 1.2 * across
        colours[(across < 0.1) & (along > 0.0) & (along < 0.12)] = (255, 255, 255)
    return colours


def straight_walls(width=6 * LANE, far=60.0):
    half = width / 2
    return [((-5.0, half), (far, half), "black"), ((-5.0, -half), (far, -half), "black")]


def frame(x=0.0, y=0.0, yaw=0.0, look="B", walls=None, ground=None, tall=None):
    """Draw what a camera at (x, y) looking along `yaw` sees.

    `walls`: [(point, point, "black" | "yellow" | "car")], `ground(look, x, y)`: colours of world points.
    """
    walls = straight_walls() if walls is None else walls
    ground = ground or (lambda look, gx, gy: paint(look, gx, gy))
    picture = np.repeat(sky(look)[:, None], 320, axis=1)
    slope = (COLUMN - np.arange(320)) / FOCAL
    dx, dy = np.cos(yaw) - slope * np.sin(yaw), np.sin(yaw) + slope * np.cos(yaw)
    depth, kind = np.full(320, np.inf), np.zeros(320, int)
    colours = {"black": (0, 0, 0), "yellow": (171, 170, 0), "car": (40, 36, 30)}
    for number, (a, b, _) in enumerate(walls):
        ex, ey = b[0] - a[0], b[1] - a[1]
        det = dx * -ey + dy * ex
        with np.errstate(divide="ignore", invalid="ignore"):
            t = ((a[0] - x) * -ey + (a[1] - y) * ex) / det
            u = (dx * (a[1] - y) - dy * (a[0] - x)) / det
        hit = (t > 0.02) & (u >= 0.0) & (u <= 1.0) & (t < depth)
        depth[hit], kind[hit] = t[hit], number
    rows = np.arange(240)[:, None]
    below = rows > ROW
    z = FOCAL * ABOVE / np.where(below, rows - ROW, 1.0)
    gx, gy = x + z * dx, y + z * dy
    picture = np.where((below & (z < depth))[..., None], ground(look, gx, gy), picture)
    height = tall or WALL_HEIGHT[look]
    top = ROW - FOCAL * (height - ABOVE) / depth
    wall = (z >= depth) & below | ~below & (rows >= top) & np.isfinite(depth)
    table = np.array([colours[w[2]] for w in walls], float)
    picture = np.where(wall[..., None], table[kind][None], picture)
    return picture.round().astype(np.uint8)


def through_jpeg(pixels):
    from io import BytesIO

    from PIL import Image

    out = BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=75, subsampling="4:2:0")
    return np.asarray(Image.open(BytesIO(out.getvalue())).convert("RGB"))
