"""docs/environments.md: the named environments, and the parts of all environments, out of their declarations."""

from collections.abc import Iterable

from trailbrake.env.catalogue import ENVIRONMENTS
from trailbrake.env.domain_randomisation import Start, Vary
from trailbrake.env.options import RaceOptions
from trailbrake.observe.actions import ACTIONS
from trailbrake.observe.features import FEATURES
from trailbrake.observe.parts import MAX_SCALED, PARTS
from trailbrake.observe.rewards import ENDS, PAST_END, REWARDS, End, Reward

INTRODUCTION = """# Environments

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
  (in lengths of the road), `is_success` (a whole length) and `lap_time` (s; NaN unless the step has completed it);
  that of `Trend96-v0` has `why` alone.
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
  device="cuda")` shares its arrays, and JAX by DLPack of those. Speed: [figures.md](figures.md#speed).
  `trailbrake.world.cuda.CudaBatch` is the world alone.
* `trailbrake.env.sb3.RaceVecEnv`, for Stable-Baselines3, has all cars in one batch.
* `trailbrake/Link-v0` drives through the wire of a simulator (`sim="assetto"`), in lockstep with the embedded world
  or, with `live=True`, the game itself; `live_options={"pad": "uinput"}` are the options of `--live`. It observes
  `CarState` only. Where the simulator cannot place the car (Forza, BeamNG), an embedded world begins again at the
  start line; a live episode begins where the car comes to a standstill, after it was driven back onto the road
  ([recovery.md](recovery.md)). `substeps` follow from `period`. A live car is
  [supervised](signals-and-commands.md#a-loop-of-your-own-in-a-live-game).
  `trailbrake.observe.state_observer.StateObserver` computes the same observations for a driver that plays a policy."""


def page() -> str:
    """Return docs/environments.md."""
    return "\n\n".join([INTRODUCTION, *_names(), *_options(), *_parts(), *_rewards(), *_features()]) + "\n"


def _item(name: str, meaning: str, *others: str) -> str:
    brackets = ", ".join(filter(None, others))
    return f"* `{name}`{f' ({brackets})' if brackets else ''}: {meaning}"


def _names() -> Iterable[str]:
    lines = ["| name | what it is | options other than the defaults |", "|---|---|---|"]
    default = vars(RaceOptions())
    for name, entry in ENVIRONMENTS.items():
        changed = [f"`{key}={_format_value(value)}`" for key, value in vars(entry.options).items()
                   if value != default[key]]  # fmt: skip
        lines.append(f"| `{name}` | {entry.text} | {', '.join(changed)} |")
    return "## Names", "\n".join(lines)


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


def _options() -> Iterable[str]:
    yield "## Options"
    for cls in (RaceOptions, Start, Vary):
        text = _parse_attributes(cls.__doc__ or "")
        yield f"### {cls.__name__}"
        yield "\n".join(_item(name, text[name], f"`{_format_value(value)}`") for name, value in vars(cls()).items())


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


def _parts() -> Iterable[str]:
    yield "## Observations and actions"
    yield (f"Each number is divided by the scale of its feature and clipped to +-{MAX_SCALED:g}; scans are 0..1."
           " `observe` takes names, or instances of the classes in `observe/parts.py`. In brackets: how many numbers,"
           " and of which fields.")  # fmt: skip
    yield "Parts:"
    needs = {part: ", ".join(f"`{name}`" for name in sorted(part.needs)) for part in PARTS.values()}
    yield "\n".join(_item(part.name, part.text, str(part.width), fields and f"needs {fields}")
                    for part, fields in needs.items())  # fmt: skip
    yield "Actions:"
    yield "\n".join(_item(action.name, action.text, str(action.width)) for action in ACTIONS.values())


def _rewards() -> Iterable[str]:
    yield "## Rewards and ends"
    yield "Rewards:"
    yield "\n".join(_item(r.name, r.text, f"`{r.feature.name}`", f"weight {r.weight:g}") for r in REWARDS.values())
    yield "Ends:"
    ends = [(end, end.text, end.reward) for end in ENDS.values()]
    ends.append((PAST_END, f"{PAST_END.text}; in every task", 0.0))
    yield "\n".join(_item(end.name, text, f"`{end.feature.name}`", f"above {end.limit:g}", f"reward {reward:g}")
                    for end, text, reward in ends)  # fmt: skip
    yield "The option `limit` truncates an episode; any other end terminates it."


def _features() -> Iterable[str]:
    yield "## Features"
    yield "Parts, rewards and ends use them (`trailbrake.observe.features.Feature`). In brackets: unit; scale if not 1."
    yield "\n".join(
        _item(row.name, m.text, "" if m.unit == "1" else m.unit, "" if m.scale == 1.0 else f"{m.scale:.5g}")
        for row, m in FEATURES.items()
    )
