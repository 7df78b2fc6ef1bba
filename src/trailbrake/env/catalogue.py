"""The environments that have a name, and the page that documents them and all that they can be made of."""

from dataclasses import dataclass, fields

from trailbrake.env.options import RaceOptions, Start, Vary
from trailbrake.observe.actions import ACTIONS
from trailbrake.observe.columns import MEANINGS
from trailbrake.observe.judge import ENDS, PAST_END, REWARDS
from trailbrake.observe.parts import MOST, PARTS


@dataclass(frozen=True)
class Entry:
    """An environment with a name.

    Attributes:
        text: what it is.
        options: what it is made of.
        link: whether it drives through a simulator's wire.
    """

    text: str
    options: RaceOptions
    link: bool = False


_SCANNED = ("motion", "asked")
ENVIRONMENTS: dict[str, Entry] = {
    "trailbrake/Race-v0": Entry("one car alone, started anywhere on the road", RaceOptions()),
    "trailbrake/Lap-v0": Entry(
        "one lap from a standing start, which more than two wheels off the road or a contact end",
        RaceOptions(
            start=Start(anywhere=False, offset=0.0, heading=0.0, speed=(0.0, 0.0)),
            rewards=("progress", "time", "smooth_steer"), ends=("lap", "off_track", "contact", "backward", "slow"),
            limit=180.0,
        ),
    ),
    "trailbrake/Scan-v0": Entry("one car that sees by 64 beams", RaceOptions(observe=(*_SCANNED, "scan64"))),
    "trailbrake/Scan1080-v0": Entry("one car that sees by 1080 beams", RaceOptions(observe=(*_SCANNED, "scan1080"))),
    "trailbrake/Random-v0": Entry("a new road in every episode", RaceOptions(track="random")),
    "trailbrake/Varied-v0": Entry(
        "cars that differ in mass, grip, stiffness, delay and noise",
        RaceOptions(vary=Vary(mass=(0.9, 1.2), grip=(0.8, 1.1), stiffness=(0.8, 1.25), delay=4, noise=(0.0, 0.02))),
    ),
    "trailbrake/Traffic-v0": Entry(
        "one car among three that are driven at a steady pace",
        RaceOptions(cars=4, rivals=True, observe=("motion", "lane", "asked", "bends", "rivals"),
                    start=Start(heading=0.05, speed=(10.0, 20.0))),
    ),
    "trailbrake/Link-v0": Entry(
        "the same through a simulator's wire: slow, and honest", RaceOptions(period=0.012, substeps=12), link=True
    ),
}  # fmt: skip


def page() -> str:
    """Return docs/environments.md."""
    return "\n\n".join([_INTRODUCTION, _table_of_environments(), _options(), _parts(), _judging(), _rows()]) + "\n"


_INTRODUCTION = """# Environments

Generated from the declarations in `src/trailbrake/observe/` and `src/trailbrake/env/`; do not edit.

```python
import gymnasium
import trailbrake.env.gym  # registers the names below; needs `pip install "trailbrake[rl]"`

env = gymnasium.make("trailbrake/Race-v0", track="hartmoor", rewards=("progress", "off_track"))
envs = gymnasium.make_vec("trailbrake/Race-v0", num_envs=4096, vectorization_mode="vector_entry_point", threads=2)
```

* `trailbrake.env.batch.RaceBatch` is the same without Gymnasium: NumPy in, NumPy out.
* The vector environment restarts a car in the step in which its episode ends (`metadata["autoreset_mode"]` is
  `AutoresetMode.SAME_STEP`): the observation returned is the first of the next episode, the last one is in
  `infos["final_obs"]`, and why it ended in `infos["final_info"]["why"]`.
* Several cars that all learn: `cars=2` with `num_envs` a multiple of it, consecutive ones share a world; or
  `trailbrake.env.zoo.RaceParallel` for PettingZoo (`pip install "trailbrake[multi]"`). One that learns among others:
  `rivals=True`.
* `trailbrake/Trend96-v0` is the miniature world, seen through its camera only: 96 x 96 pixels, steer and pedal, also as
  a vector environment. Its options are those of `trailbrake.env.camera.CameraOptions` (`track`, `look`, `size`,
  `obstacles`, `steps`, `limit`); `trailbrake.env.camera.CameraBatch` is the same without Gymnasium.
* `trailbrake.world.cuda.CudaBatch` is the bare world on a graphics card (`pip install "trailbrake[gpu]"`): cars stay
  there, `row(State.VX)` is an array that `torch.as_tensor` takes as it is. It has no observations or rewards yet,
  and was checked by a simulator of a card only: `trailbrake bench cuda` would be its first run on one.
* `trailbrake.env.sb3.RaceVecEnv` is for Stable-Baselines3. `examples/train_ppo.py` trains with it.
* `trailbrake/Link-v0` drives through the wire of a simulator (`sim="assetto"`), in lockstep with the embedded world or,
  with `live=True`, the game itself. There is nothing but `CarState` to see there, and `Observer` makes the same
  observations of it for a driver that plays a policy."""


def _table_of_environments() -> str:
    lines = ["## Names", "", "| name | what it is | options other than the defaults |", "|---|---|---|"]
    default = RaceOptions()
    for name, entry in ENVIRONMENTS.items():
        changed = [
            f"{f.name}={_short(getattr(entry.options, f.name))}"
            for f in fields(RaceOptions)
            if getattr(entry.options, f.name) != getattr(default, f.name)
        ]
        lines.append(f"| `{name}` | {entry.text} | {', '.join(f'`{text}`' for text in changed)} |")
    return "\n".join(lines)


def _short(value: object) -> str:
    # Of nested options only what differs from their defaults.
    if isinstance(value, Start | Vary):
        default = type(value)()
        parts = [
            f"{f.name}={getattr(value, f.name)!r}"
            for f in fields(value)
            if getattr(value, f.name) != getattr(default, f.name)
        ]
        return f"{type(value).__name__}({', '.join(parts)})"
    return repr(value)


def _options() -> str:
    parts = ["## Options"]
    for cls in (RaceOptions, Start, Vary):
        text = _attributes(cls.__doc__ or "")
        lines = [f"### {cls.__name__}", "", "| option | default | meaning |", "|---|---|---|"]
        default = cls()
        lines += [f"| `{f.name}` | `{_short(getattr(default, f.name))}` | {text[f.name]} |" for f in fields(cls)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _attributes(docstring: str) -> dict[str, str]:
    # The "Attributes:" section of a docstring, by name.
    found: dict[str, str] = {}
    name = ""
    for line in docstring.split("Attributes:", 1)[1].splitlines():
        text = line.strip()
        if line.startswith(" " * 8) and not line.startswith(" " * 9) and ": " in text:
            name, text = text.split(": ", 1)
            found[name] = text
        elif text:
            found[name] += f" {text}"
    return found


def _parts() -> str:
    lines = [
        "## Observations and actions",
        "",
        f"Numbers are divided by what is usual for them and held within +-{MOST:g}; scans are 0..1. `observe` takes"
        " names or instances of the classes in `observe/parts.py`.",
        "",
        "| part | numbers | what | needs of `CarState` |",
        "|---|---|---|---|",
    ]
    for part in PARTS.values():
        needs = ", ".join(f"`{name}`" for name in sorted(part.needs))
        lines.append(f"| `{part.name}` | {part.width} | {part.text} | {needs} |")
    lines += ["", "| action | numbers | what |", "|---|---|---|"]
    lines += [f"| `{action.name}` | {action.width} | {action.text} |" for action in ACTIONS.values()]
    return "\n".join(lines)


def _judging() -> str:
    lines = [
        "## Rewards and ends", "", "| reward | what | row | weight |", "|---|---|---|---|",
        *(f"| `{r.name}` | {r.text} | `{r.column.name}` | {r.weight:g} |" for r in REWARDS.values()),
        "", "| end | what | row above | limit | reward |", "|---|---|---|---|---|",
        *(f"| `{e.name}` | {e.text} | `{e.column.name}` | {e.limit:g} | {e.reward:g} |" for e in ENDS.values()),
        f"| `{PAST_END.name}` | {PAST_END.text}; always there | `{PAST_END.column.name}` | {PAST_END.limit:g} | 0 |",
        "", "An episode that is cut off at `limit` is truncated; any other end terminates it.",
    ]  # fmt: skip
    return "\n".join(lines)


def _rows() -> str:
    lines = [
        "## Rows", "", "What parts, rewards and ends may name (`observe.columns.Seen`).", "",
        "| row | unit | usual | meaning |", "|---|---|---|---|",
        *(f"| `{row.name}` | {m.unit} | {m.usual:g} | {m.text} |" for row, m in MEANINGS.items()),
    ]  # fmt: skip
    return "\n".join(lines)
