"""Pictures of a straight road, of laps, and what bots of the page count in them."""

import io

import numpy as np
from PIL import Image

from trailbrake.world.miniature.camera import track_look as looks
from trailbrake.world.miniature.camera.renderer import Renderer
from trailbrake.world.miniature.camera.scene import build_scene
from trailbrake.world.miniature.layout import MiniatureLayout
from trailbrake.world.miniature.track import assemble_track
from trailbrake.world.miniature.track_library import load_miniature_track
from trailbrake.world.pinhole_camera import PinholeCamera

# 44 m along +x from (0, 0), then to the left; a gantry 1.7 m before the bend.
STRAIGHT = assemble_track(
    MiniatureLayout(corners=[(-4.0, 0.0, 1.5), (46.0, 0.0, 1.5), (46.0, 8.0, 1.5), (-4.0, 8.0, 1.5)], start=4.0),
    "t",
    "",
    "t",
)
BUMPER = PinholeCamera().forward
_renderers = {}


def renderer(name, look):
    """Return the renderer of a track by name ("straight": STRAIGHT) in a look."""
    if (name, look) not in _renderers:
        track = STRAIGHT if name == "straight" else load_miniature_track(name)
        _renderers[name, look] = (track, Renderer(build_scene(track, looks.load_look(look))))
    return _renderers[name, look]


def straight(look, x=10.0, y=0.39, yaw=0.0):
    """Return the picture with the camera at x, y on the straight road."""
    return renderer("straight", look)[1].render_frame(
        x - BUMPER * np.cos(yaw), y - BUMPER * np.sin(yaw), yaw
    ).astype(np.int64)  # fmt: skip


def lap(name, look, every=1.0, offset=0.39):
    """Return pictures (n, 240, 320, 3) along a lap in the middle of a half."""
    track, drawn = renderer(name, look)
    poses = np.array([track.pose_at(s, offset) for s in np.arange(0.0, track.length, every)])
    return drawn.render_frames(poses)


def jpeg(picture):
    """Return the bytes that the wire carries."""
    out = io.BytesIO()
    Image.fromarray(picture.astype(np.uint8)).save(out, "JPEG", quality=75, subsampling="4:2:0")
    return out.getvalue()


def through_jpeg(picture):
    """Return the picture as the other end of the wire sees it."""
    return np.asarray(Image.open(io.BytesIO(jpeg(picture)))).astype(np.int64)


def blur(picture):
    """Return the picture after a Gaussian of 5 x 5, with OpenCV's default width of 1.1 pixels."""
    k = np.exp(-0.5 * (np.arange(-2, 3) / 1.1) ** 2)
    k /= k.sum()
    out = picture.astype(np.float64)
    for axis in (0, 1):
        padded = np.pad(out, [(2, 2) if a == axis else (0, 0) for a in range(3)], mode="reflect")
        out = sum(w * np.take(padded, np.arange(i, i + out.shape[axis]), axis) for i, w in enumerate(k))
    return np.rint(out).astype(np.int64)


def wall_rates(picture):
    """Return the wall rates of the left and the right half as bot 1 of section 7 counts them."""
    rows = blur(picture)[48:240]
    r, g, b = rows[..., 0], rows[..., 1], rows[..., 2]
    wall = (rows <= 10).all(axis=2) | ((b == 0) & (g >= 160) & (g <= 180) & (r >= 160) & (r <= 180))
    return wall[:, :160].sum() / 30720.0, wall[:, 160:].sum() / 30720.0


def red(picture):
    """Return where bots 2 and 4 of section 7 see red."""
    r, g, b = picture[..., 0], picture[..., 1], picture[..., 2]
    return (r >= 120) & (r >= g) & (r >= b) & (g < 150) & (b < 150)


def blobs(mask, least):
    """Return the sizes of the 4-connected blobs of a mask that have `least` pixels or more."""
    label = np.zeros(mask.shape, np.int64)
    sizes = []
    for start in zip(*np.nonzero(mask), strict=True):
        if label[start]:
            continue
        label[start], todo, size = 1, [start], 0
        while todo:
            i, j = todo.pop()
            size += 1
            for n in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                if 0 <= n[0] < mask.shape[0] and 0 <= n[1] < mask.shape[1] and mask[n] and not label[n]:
                    label[n] = 1
                    todo.append(n)
        if size >= least:
            sizes.append(size)
    return sizes
