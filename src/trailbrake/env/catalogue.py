"""The named environments, and the page that documents them and the parts of all environments."""

from dataclasses import dataclass, replace

from trailbrake.env.options import RaceOptions, Start, Vary
from trailbrake.observe.actions import ACTIONS
from trailbrake.observe.features import FEATURES
from trailbrake.observe.parts import MAX_SCALED, PARTS
from trailbrake.observe.rewards import ENDS, PAST_END, REWARDS, End, Reward


@dataclass(frozen=True)
class NamedEnvironment:
    """An environment that `gymnasium.make` knows by name.

    Attributes:
        text: one line for the documentation.
        options: of the environment.
        link: whether it drives through a simulator's wire.
    """

    text: str
    options: RaceOptions
    link: bool = False


_SCAN_PARTS = ("motion", "asked")
ENVIRONMENTS: dict[str, NamedEnvironment] = {
    "trailbrake/Race-v1": NamedEnvironment(
        "a lap from anywhere on the road; common learners drive it with their default settings",
        RaceOptions(
            # 0.1 s: a discount of 0.99 then looks 10 s ahead. Noise on the fine steer keeps the car on the road.
            # Returns are a few tens at most, as default settings expect, and neither a standstill nor an end pays.
            period=0.1, substeps=90, action="fine_steer_pedal",
            rewards=(replace(REWARDS["progress"], weight=0.02), replace(REWARDS["smooth_steer"], weight=-0.2),
                     replace(REWARDS["smooth_pedals"], weight=-0.02)),
            ends=("lap", replace(ENDS["off_track"], reward=-2.0), replace(ENDS["contact"], reward=-2.0), "backward",
                  "slow"),
            limit=180.0, start=Start(speed=(5.0, 20.0)),
        ),
    ),
    "trailbrake/Race-v0": NamedEnvironment(
        "one car alone, started anywhere on the road, at 100 Hz: common learners come to stand still", RaceOptions()
    ),
    "trailbrake/Lap-v0": NamedEnvironment(
        "one lap from a standing start; it ends with a contact, or with more than two wheels off the road",
        RaceOptions(
            start=Start(anywhere=False, offset=0.0, heading=0.0, speed=(0.0, 0.0)),
            rewards=("progress", "time", "smooth_steer"), ends=("lap", "off_track", "contact", "backward", "slow"),
            limit=180.0,
        ),
    ),
    "trailbrake/Scan-v0": NamedEnvironment(
        "one car with a range scanner of 64 beams", RaceOptions(observe=(*_SCAN_PARTS, "scan64"))
    ),
    "trailbrake/Scan1080-v0": NamedEnvironment(
        "one car with a range scanner of 1080 beams", RaceOptions(observe=(*_SCAN_PARTS, "scan1080"))
    ),
    "trailbrake/Random-v0": NamedEnvironment("a new road in every episode", RaceOptions(track="random")),
    "trailbrake/Varied-v0": NamedEnvironment(
        "cars that differ in mass, grip, stiffness, delay and noise",
        RaceOptions(vary=Vary(mass=(0.9, 1.2), grip=(0.8, 1.1), stiffness=(0.8, 1.25), delay=4, noise=(0.0, 0.02))),
    ),
    "trailbrake/Traffic-v0": NamedEnvironment(
        "one car among three rivals that follow the road at a steady pace",
        RaceOptions(cars=4, rivals=True, observe=("motion", "lane", "asked", "bends", "rivals"),
                    start=Start(heading=0.05, speed=(10.0, 20.0))),
    ),
    "trailbrake/Link-v0": NamedEnvironment(
        "one car through a simulator's wire, at the speed of that wire",
        RaceOptions(period=0.012, substeps=12), link=True,
    ),
}  # fmt: skip


def environments_page() -> str:
    """Return docs/environments.md."""
    return (
        "\n\n".join(
            [
                _INTRODUCTION,
                _names_section(),
                _options_section(),
                _parts_section(),
                _rewards_section(),
                _features_section(),
            ]
        )
        + "\n"
    )


_INTRODUCTION = """# Environments

Generated from the declarations in `src/trailbrake/observe/` and `src/trailbrake/env/`; do not edit.

```python
import gymnasium
import trailbrake  # Gymnasium knows the names below then; needs `pip install "trailbrake[rl]"`

env = gymnasium.make("trailbrake/Race-v1", track="hartmoor", render_mode="rgb_array")
envs = gymnasium.make_vec("trailbrake/Race-v1", num_envs=4096, vectorization_mode="vector_entry_point", threads=2)
```

* A process that does not import trailbrake, as a spawned worker, uses `trailbrake:trailbrake/Race-v1`.
* Loops of each common library are in `examples/rl/`.
* `render_mode="rgb_array"` gives pictures of the road around the car and of the whole road; `"human"` shows them in a
  window.
* `trailbrake.env.batch.RaceBatch` is the same without Gymnasium, with NumPy arrays.
* The info of the step that ends an episode has the name of the end as `why`, `time` (s), `distance` (m), `progress`
  (in lengths of the road), `is_success` (a whole length) and `lap_time` (s; NaN unless the step has completed it).
* The vector environment restarts a car in the step in which its episode ends, and returns the first observation of the
  next one; `infos["final_obs"]` has the last of the old one, and `infos["final_info"]` its figures.
  `autoreset_mode="NextStep"` is what Gymnasium's own wrappers for observations need; with `"Disabled"`,
  `reset(options={"reset_mask": terminated | truncated})` restarts.
* Environments can be pickled before and after a reset; the copy goes on from there.
* Several cars that meet each other: `cars=2` and `num_envs` a multiple of it; consecutive cars share a world.
  `trailbrake.env.zoo.RaceParallel` is the same for PettingZoo (`pip install "trailbrake[multi]"`). With `rivals=True`
  one car of each world learns, and the others follow the road.
* `trailbrake/Trend96-v0` is the miniature world through its camera only: 96 x 96 pixels, steer and pedal, also as a
  vector environment, with the options of `trailbrake.env.camera.CameraOptions` (`track`, `look`, `size`, `obstacles`,
  `steps`, `limit`); `trailbrake.env.camera.CameraBatch` is the same without Gymnasium.
* `trailbrake.env.cuda.CudaRaceBatch` is `RaceBatch` on a graphics card (`pip install "trailbrake[gpu]"`): the same
  options, arrays of the card in and out; neither a step nor a restart waits for the card. `torch.as_tensor(array,
  device="cuda")` shares its arrays, and JAX by DLPack of those. A car takes 1034 bytes with the default observation;
  one H100 makes 227 million steps of 10 ms a second ([figures.md](figures.md#speed)).
  `trailbrake.world.cuda.CudaBatch` is the world alone.
* `trailbrake.env.sb3.RaceVecEnv` is the fast one for Stable-Baselines3: all cars in one batch.
* `trailbrake/Link-v0` drives through the wire of a simulator (`sim="assetto"`), in lockstep with the embedded world
  or, with `live=True`, the game itself; `live_options={"pad": "uinput"}` are the options of `--live`. It observes
  `CarState` only. Where the simulator cannot place the car (Forza, BeamNG), an embedded world begins again at the
  start line; a live episode begins where the car comes to a standstill, after it was driven back onto the road
  ([recovery.md](recovery.md)). `substeps` follow from `period`. A live car is
  [supervised](signals-and-commands.md#a-loop-of-your-own-in-a-live-game).
  `trailbrake.observe.state_observer.StateObserver` computes the same observations for a driver that plays a policy."""


def _names_section() -> str:
    lines = ["## Names", "", "| name | what it is | options other than the defaults |", "|---|---|---|"]
    default = RaceOptions()
    for name, entry in ENVIRONMENTS.items():
        changed = [
            f"{name}={_format_value(value)}"
            for name, value in vars(entry.options).items()
            if value != vars(default)[name]
        ]
        lines.append(f"| `{name}` | {entry.text} | {', '.join(f'`{text}`' for text in changed)} |")
    return "\n".join(lines)


def _format_value(value: object) -> str:
    # Of nested options only what differs from their defaults; of rewards and ends their names, or what was changed.
    if isinstance(value, tuple) and not all(isinstance(item, float) for item in value):
        return f"({', '.join(map(_format_value, value))}{',' * (len(value) == 1)})"
    if isinstance(value, Reward):
        return f"{value.name}: {value.weight:g}"
    if isinstance(value, End):
        return f"{value.name}: {value.reward:g}"
    if isinstance(value, Start | Vary):
        default = type(value)()
        parts = [f"{name}={part!r}" for name, part in vars(value).items() if part != vars(default)[name]]
        return f"{type(value).__name__}({', '.join(parts)})"
    return repr(value)


def _options_section() -> str:
    parts = ["## Options"]
    for cls in (RaceOptions, Start, Vary):
        text = _parse_attributes(cls.__doc__ or "")
        lines = [f"### {cls.__name__}", "", "| option | default | meaning |", "|---|---|---|"]
        lines += [f"| `{name}` | `{_format_value(value)}` | {text[name]} |" for name, value in vars(cls()).items()]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _parse_attributes(docstring: str) -> dict[str, str]:
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


def _parts_section() -> str:
    lines = [
        "## Observations and actions",
        "",
        f"Each number is divided by the scale of its feature and clipped to +-{MAX_SCALED:g}; scans are 0..1. `observe`"
        " takes names, or instances of the classes in `observe/parts.py`. In brackets: how many numbers,"
        " and of which fields.",
        "",
        "| part | numbers | what | fields of `CarState` it needs |",
        "|---|---|---|---|",
    ]
    for part in PARTS.values():
        needs = ", ".join(f"`{name}`" for name in sorted(part.needs))
        lines.append(f"| `{part.name}` | {part.width} | {part.text} | {needs} |")
    lines += ["", "| action | numbers | what |", "|---|---|---|"]
    lines += [f"| `{action.name}` | {action.width} | {action.text} |" for action in ACTIONS.values()]
    return "\n".join(lines)


def _rewards_section() -> str:
    lines = [
        "## Rewards and ends", "", "| reward | what | feature | weight |", "|---|---|---|---|",
        *(f"| `{r.name}` | {r.text} | `{r.feature.name}` | {r.weight:g} |" for r in REWARDS.values()),
        "", "| end | what | feature above | limit | reward |", "|---|---|---|---|---|",
        *(f"| `{e.name}` | {e.text} | `{e.feature.name}` | {e.limit:g} | {e.reward:g} |" for e in ENDS.values()),
        f"| `{PAST_END.name}` | {PAST_END.text}; in every task | `{PAST_END.feature.name}` | {PAST_END.limit:g} | 0 |",
        "", "The option `limit` truncates an episode; any other end terminates it.",
    ]  # fmt: skip
    return "\n".join(lines)


def _features_section() -> str:
    lines = [
        "## Features", "",
        "Parts, rewards and ends use these (`trailbrake.observe.features.Feature`); scales not given are 1.", "",
        "| feature | unit | scale | meaning |", "|---|---|---|---|",
        *(f"| `{row.name}` | {m.unit} | {m.scale:g} | {m.text} |" for row, m in FEATURES.items()),
    ]  # fmt: skip
    return "\n".join(lines)
