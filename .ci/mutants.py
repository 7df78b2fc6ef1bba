"""Mutation tests: changes one place of a module at a time and runs its tests, which have to fail.

    python .ci/mutants.py                  all groups of `[tool.mutants]` in pyproject.toml
    python .ci/mutants.py laps codecs      these groups
    python .ci/mutants.py --again laps     only what survived the last run
    python .ci/mutants.py --page           write figures of the last runs to docs/figures.md

The changes are those of mutmut. Decorated functions, tables and defaults count as well, which mutmut's own runner
leaves out. Each runs in a fork of a process that has collected the tests, and only those tests that reach the changed
function. Results are kept in build/mutants. Exit code 1: a group is below its limit.
`.ci/survivors.toml` says of which survivors no test can kill, or need not.
"""

import argparse
import ast
import enum
import gc
import json
import os
import random
import re
import resource
import select
import signal
import sys
import tempfile
import textwrap
import threading
import time
import tomllib
import traceback
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "trailbrake"
RESULTS = ROOT / "build" / "mutants"
FIGURES = ROOT / "docs" / "figures.md"
PAGE = RESULTS / "mutation.md"
REASONS = ROOT / ".ci" / "survivors.toml"
LIMIT = 0.9  # least share of killed mutants in a group
SURVIVED = 0
PYTEST = [
    "-qq", "-s", "--tb=no", "--no-header", "--no-summary", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:anyio",
    "-W", "ignore::pytest.PytestAssertRewriteWarning", "-o", "addopts=", "--import-mode=importlib",
    "--hypothesis-profile=mutants",
    "-m", "not slow and not rl and not train and not vm and not fmi and not wine",
]  # fmt: skip


class Mutant(NamedTuple):
    """One changed module. `line` counts from 1; `before` and `after` are the lines that differ."""

    line: int
    before: str
    after: str
    source: str
    function: str  # in whose body it is, "Class.method"; "" = a table, a default, a decorator
    part: str  # the text of that function or statement alone


class Target(NamedTuple):
    """One module with the files of tests that have to notice its changes."""

    module: str  # below the package, as in "sims/forza/codec.py"
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        """The dotted name of the module."""
        return "trailbrake." + self.module.removesuffix(".py").replace("/", ".")


def list_mutants(path: Path) -> list[Mutant]:
    """Return the mutants of a module, without those that are the same program."""
    import libcst
    from libcst.metadata import MetadataWrapper, WhitespaceInclusivePositionProvider
    from mutmut.mutation import file_mutation, mutators
    from mutmut.mutation.pragma_handling import IgnoredCode

    class Visitor(file_mutation.MutationVisitor):
        def _skip_node_and_children(self, node: libcst.CSTNode) -> bool:
            # Decorated functions are left out by mutmut for a reason of its trampolines, which are not used here.
            if isinstance(node, libcst.FunctionDef) and node.decorators:
                return False
            # Names of slots: the memory of an object, and mutated ones would only rename it.
            if isinstance(node, libcst.Assign) and getattr(node.targets[0].target, "value", "") == "__slots__":
                return True
            return bool(super()._skip_node_and_children(node))

    text = path.read_text(encoding="utf-8")
    wrapper = MetadataWrapper(libcst.parse_module(text))
    visitor = Visitor(mutators.mutation_operators, IgnoredCode(set(), set(), set()))
    module = wrapper.visit(visitor)
    places = wrapper.resolve(WhitespaceInclusivePositionProvider)
    starts = [0]
    for row in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    functions = _list_functions(text)
    seen, found = set[str](), []
    olds: dict[int, str] = {}
    for mutation in visitor.mutations:
        place = places[mutation.original_node]
        begin = starts[place.start.line - 1] + place.start.column
        end = starts[place.end.line - 1] + place.end.column
        at = (place.start.line, place.start.column)
        function = next(f for f in functions if f.begin <= at < f.end)
        first, last = function.first, function.last
        if (old := olds.get(first)) is None:
            old = olds[first] = textwrap.dedent(text[first:last])
            seen.add(ast.dump(ast.parse(old)))
        changed = module.code_for_node(mutation.mutated_node)
        new = textwrap.dedent(text[first:begin] + changed + text[end:last])
        try:
            tree = ast.dump(ast.parse(new))
        except SyntaxError:
            continue
        if tree not in seen:
            seen.add(tree)
            line, before, after = _difference(old, new)
            source = text[:begin] + changed + text[end:]
            found.append(Mutant(line + text.count("\n", 0, first), before, after, source, function.name, new))
    return found


class _Function(NamedTuple):
    """Where the body of a function is, by line and column; and its whole text, by offsets."""

    name: str  # "Class.method"; "" = a statement of the module
    begin: tuple[int, int]
    end: tuple[int, int]
    first: int
    last: int


def _list_functions(text: str) -> list[_Function]:
    """Return the functions of a module and of its classes; after them its other statements, without a name."""
    found: list[_Function] = []
    starts = [0]
    for row in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))

    def visit(nodes: Sequence[ast.stmt], prefix: str) -> None:
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                body, end = node.body[0], (node.end_lineno or 0, node.end_col_offset or 0)
                top = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                found.append(_Function(prefix + node.name, (body.lineno, body.col_offset), end, starts[top - 1],
                                       starts[end[0]]))  # fmt: skip

    body = ast.parse(text).body
    visit(body, "")
    for node in body:
        end = node.end_lineno or 0
        top = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
        found.append(_Function("", (top, 0), (end + 1, 0), starts[top - 1], starts[end]))
    return found


def _difference(text: str, source: str) -> tuple[int, str, str]:
    """Return the number of the first line that differs, and the lines that do in both."""
    old, new = ([line.strip() for line in whole.splitlines()] for whole in (text, source))
    first = next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    same = 0
    while same < min(len(old), len(new)) - first and old[-1 - same] == new[-1 - same]:
        same += 1
    cut = [" ".join(" ".join(lines[first : len(lines) - same]).split()) for lines in (old, new)]
    return first + 1, cut[0], cut[1]


class Child:
    """A forked process.

    Args:
        work: what it does; returns its exit code and what to send back.
        limit_s: s of processor time; the wall clock gets ten times that.
    """

    def __init__(self, work: Callable[[], tuple[int, Any]], limit_s: float) -> None:
        self.began = time.monotonic()
        self.output, write = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            code = 70
            try:
                os.close(self.output)
                self._prepare(limit_s)
                code, answer = work()
                os.write(write, json.dumps(answer).encode())
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(write)

    @staticmethod
    def _prepare(limit_s: float) -> None:
        if not os.environ.get("MUTANTS_VERBOSE"):
            quiet = os.open(RESULTS / "output.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
        os.setpgid(0, 0)
        sys.dont_write_bytecode = True
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit_s) + 1, int(limit_s) + 2))
        signal.setitimer(signal.ITIMER_REAL, 10.0 * limit_s)

    def wait(self) -> tuple[int, Any]:
        """Return the exit code (negative: a signal), and what came back."""
        output = b""
        while data := os.read(self.output, 1 << 16):
            output += data
        os.close(self.output)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status), json.loads(output) if output else None


class ForkedRuns:
    """A plugin of pytest: after collection, forks for each mutant and runs there the tests that reach its function.

    Args:
        work: modules, their mutants, and what their results say beside the survivors.
        jobs: mutants at the same time.
    """

    def __init__(self, work: Sequence[tuple[Target, list[Mutant], dict[str, Any]]], jobs: int) -> None:
        self._work, self._jobs = work, jobs
        self._modules = {str(PACKAGE / target.module): target.module for target, _, _ in work}
        self._items: list[Any] = []
        self._costs: list[float] = []
        self._reached: list[set[str]] = []

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run everything once as it is, then the mutants."""
        self._items = session.items
        code, answer = Child(lambda: self._measure(session), 3600.0).wait()
        if code or session.testsfailed:
            raise SystemExit(f"the tests cannot be run, exit code {code}; see {RESULTS / 'output.log'}")
        if answer["failed"]:
            print("left out, since they fail unchanged while calls are counted:", *answer["failed"], flush=True)
        self._costs, self._reached = answer["costs"], [set(names) for names in answer["reached"]]
        gc.collect()
        gc.freeze()
        for target, mutants, result in self._work:
            began = time.monotonic()
            done = self._run_mutants(session, target, mutants)
            result["timeouts"] = sum(code < 0 for _, code in done)
            result["survivors"] = sorted([m.line, m.before, m.after] for m, code in done if code == SURVIVED)
            result_file(target).write_text(json.dumps(result, indent=1), encoding="utf-8")
            print(f"{target.module}: {len(done)} ran in {time.monotonic() - began:.0f} s, "
                  f"{len(result['survivors'])} survive", flush=True)  # fmt: skip
        return True

    def _measure(self, session: Any) -> tuple[int, Any]:
        """Run all tests; return s of processor time and the functions that each reaches."""
        costs: list[float] = []
        reached: list[list[str]] = []
        failed: list[str] = []
        names: set[str] = set()

        def note(frame: Any, event: str, argument: Any) -> None:
            if event == "call" and (module := self._modules.get(frame.f_code.co_filename)):
                names.add(f"{module}:{frame.f_code.co_qualname.split('.<locals>')[0]}")
                names.add(f"{module}:")

        for item, following in _with_next(session.items):
            names.clear()
            began = time.process_time()
            threading.setprofile(note)
            sys.setprofile(note)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            sys.setprofile(None)
            costs.append(time.process_time() - began)
            if session.testsfailed > len(failed):  # it judges the time that something takes, for example
                failed.append(item.nodeid)
                names.clear()
            reached.append(sorted(names))
        return 0, {"costs": costs, "reached": reached, "failed": failed}

    def _run_mutants(self, session: Any, target: Target, mutants: Sequence[Mutant]) -> list[tuple[Mutant, int]]:
        """Run a child for each mutant; return the exit codes."""
        running: dict[int, tuple[Mutant, Child]] = {}
        waiting, done = list(reversed(mutants)), []
        while waiting or running:
            while waiting and len(running) < self._jobs:
                mutant = waiting.pop()
                child = self._start(session, target, mutant)
                running[child.output] = (mutant, child)
            for ready in select.select(list(running), [], [])[0]:
                mutant, child = running.pop(ready)
                done.append((mutant, child.wait()[0]))
        return done

    def _start(self, session: Any, target: Target, mutant: Mutant) -> Child:
        # A table or a default is read by functions of its module, or of others: then by no test that reaches none.
        name = f"{target.module}:{mutant.function}"
        own = [k for k, item in enumerate(self._items) if item.nodeid.split("::")[0] in target.tests]
        chosen = [k for k in own if name in self._reached[k] or (not mutant.function and self._costs[k] < 1.0)]
        chosen.sort(key=self._costs.__getitem__)
        items = [(self._items[k], self._costs[k]) for k in chosen]
        limit_s = 2.0 + 3.0 * sum(self._costs[k] for k in chosen)
        return Child(lambda: (_run_mutant(session, items, target, mutant), None), limit_s)


def _with_next(items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(items, [*items, None][1:], strict=True)


def _run_mutant(session: Any, items: Sequence[tuple[Any, float]], target: Target, mutant: Mutant) -> int:
    try:
        replace = replace_function if mutant.function else replace_values
        replace(sys.modules[target.name], mutant)
    except Exception:
        return 1  # it cannot even be imported
    limit = resource.getrlimit(resource.RLIMIT_CPU)[1]
    for (item, following), (_, cost_s) in zip(_with_next([item for item, _ in items]), items, strict=True):
        # Endless loops end with their test, instead of taking the time of all.
        end_s = int(time.process_time() + 1.0 + 3.0 * cost_s) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (min(end_s, limit), limit))
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return 1
    return SURVIVED


def replace_function(module: Any, mutant: Mutant) -> None:
    """Give a function the code of a mutant, wherever it is referred to."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "changed.py"
        path.write_text(mutant.part, encoding="utf-8")
        definition = ast.parse(mutant.part).body[0]
        assert isinstance(definition, ast.FunctionDef)
        definition.decorator_list = [
            d for d in definition.decorator_list if isinstance(d, ast.Name) and d.id == "compile_record_calls"
        ]
        code = compile(ast.Module([definition], []), str(path), "exec")
        scope = dict(vars(module))
        exec(code, scope)
    old, new = _find_function(module, mutant.function), scope[definition.name]
    old.__code__ = new.__code__


def replace_values(module: Any, mutant: Mutant) -> None:
    """Give a module the tables, defaults and constants of a mutant, wherever they were imported by their names."""
    changed = types.ModuleType(module.__name__)
    vars(changed)["__file__"] = module.__file__
    exec(compile(mutant.source, module.__file__, "exec"), vars(changed))
    for name, old in list(vars(module).items()):
        new = vars(changed).get(name)
        if name.startswith("__") or isinstance(old, types.ModuleType):
            continue
        if isinstance(old, enum.EnumType):
            if new is None or [(m.name, m.value) for m in new] != [(m.name, m.value) for m in old]:
                _rebind(name, old, new)
        elif isinstance(old, type):
            if old.__module__ == module.__name__ and isinstance(new, type):
                _replace_class_values(name, old, new)
        elif isinstance(old, types.FunctionType):
            _replace_defaults(old, new)
        elif type(new) is not type(old) or repr(new) != repr(old) or new != old:
            _rebind(name, old, new)


def _replace_class_values(name: str, old: Any, new: Any) -> None:
    if getattr(old, "__struct_defaults__", ()) != getattr(new, "__struct_defaults__", ()):
        _rebind(name, old, new)  # those of a struct cannot be changed
    for attribute, value in list(vars(old).items()):
        changed = vars(new).get(attribute)
        _replace_defaults(value, changed)
        if not attribute.startswith("__") and isinstance(value, bool | int | float | str | None) and changed != value:
            setattr(old, attribute, changed)
    if hasattr(old, "_field_defaults"):
        old._field_defaults.update(new._field_defaults)


def _rebind(name: str, old: Any, new: Any) -> None:
    for user in list(sys.modules.values()):
        if isinstance(user, types.ModuleType) and vars(user).get(name) is old:
            setattr(user, name, new)


def _replace_defaults(old: Any, new: Any) -> None:
    old, new = (getattr(function, "__func__", function) for function in (old, new))
    if isinstance(old, types.FunctionType) and isinstance(new, types.FunctionType):
        old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
        for cell, other in zip(old.__closure__ or (), new.__closure__ or (), strict=False):
            if not isinstance(cell.cell_contents, type):
                cell.cell_contents = other.cell_contents


def _find_function(module: Any, name: str) -> Any:
    found = module
    for part in name.split("."):
        found = vars(found)[part]
    for attribute in ("fget", "__func__", "__wrapped__"):
        found = getattr(found, attribute, None) or found
    return found


def run_targets(targets: Sequence[Target], again: bool, jobs: int, sample: int) -> int:
    """Run the mutants of modules and keep the results; return pytest's exit code."""
    import pytest

    work = []
    for target in targets:
        mutants = list_mutants(PACKAGE / target.module)
        chosen, old = mutants, None
        if again:
            old = read_result(target) or {"survivors": []}
            left = {(before, after) for _, before, after in old["survivors"]}
            chosen = [m for m in mutants if (m.before, m.after) in left]
        elif 0 < sample < len(mutants):
            chosen = sorted(random.Random(target.module).sample(mutants, sample))
        work += [(target, chosen, {"mutants": len(mutants), "tried": old["tried"] if old else len(chosen)})]
    files = dict.fromkeys(test for target in targets for test in target.tests)
    with tempfile.TemporaryDirectory() as folder:
        plugin = ForkedRuns([row for row in work if row[1]], jobs)
        return int(pytest.main([*PYTEST, f"--basetemp={folder}/tests", *files], plugins=[plugin]))


def configured_groups() -> dict[str, list[Target]]:
    """Return the modules of each group: tests of the same place, then those listed with them."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        groups = tomllib.load(file)["tool"]["mutants"]
    return {name: [_target(module, more) for module, more in modules.items()] for name, modules in groups.items()}


def _target(module: str, more: Sequence[str]) -> Target:
    own = f"tests/{Path(module).parent.as_posix()}/test_{Path(module).name}".replace("/./", "/")
    return Target(module, (own, *(f"tests/{test}" for test in more)))


def read_reasons() -> list[dict[str, Any]]:
    """Return the kinds of survivors that no test can kill, or need not: `why`, and pattern of each, by module."""
    with REASONS.open("rb") as file:
        return tomllib.load(file)["reason"]  # type: ignore[no-any-return]


def find_reason(reasons: Sequence[dict[str, Any]], module: str, before: str, after: str) -> str:
    """Return why a survivor is none that a test should kill; "" where no reason is known."""
    change = f"{before} => {after}"
    for reason in reasons:
        for place, pattern in reason["survivors"]:
            if fnmatch(module, place) and re.search(pattern, change):
                return str(reason["why"])
    return ""


def result_file(target: Target) -> Path:
    """Return where the result of a module is kept."""
    return RESULTS / (target.module.replace("/", ".") + ".json")


def read_result(target: Target) -> dict[str, Any] | None:
    """Return the kept result of a module; None where there is none."""
    file = result_file(target)
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None  # type: ignore[no-any-return]


def report(groups: dict[str, list[Target]]) -> Iterator[str]:
    """Yield the lines of the table of modules and groups."""
    yield "| module | mutants | tried | killed | survivors |"
    yield "|---|---|---|---|---|"
    for group, targets in groups.items():
        rows: list[tuple[str, int, int, int]] = [
            (f"`{target.module}`", result["mutants"], result["tried"], len(result["survivors"]))
            for target in targets
            if (result := read_result(target))
        ]
        sums = [sum(row[k] for row in rows) for k in (1, 2, 3)]
        for name, count, tried, left in [*rows, (f"**{group}**", *sums)]:
            yield f"| {name} | {count} | {tried} | {(tried - left) / max(tried, 1):.1%} | {left} |"
        for target in targets:
            if read_result(target) is None:
                yield f"| `{target.module}` | | not run | | |"


def _killed_share(targets: Sequence[Target]) -> float:
    found = [result for target in targets if (result := read_result(target))]
    tried = sum(result["tried"] for result in found)
    return 1.0 - sum(len(result["survivors"]) for result in found) / max(tried, 1)


def write_page(groups: dict[str, list[Target]]) -> None:
    """Write all modules and survivors to build/mutants, and the groups that were run whole to docs/figures.md."""
    reasons = read_reasons()
    known: Counter[str] = Counter()
    open_ones = []
    lines = ["# Mutation tests", "", *report(groups), ""]
    for target in (target for targets in groups.values() for target in targets):
        for line, before, after in (read_result(target) or {"survivors": ()})["survivors"]:
            why = find_reason(reasons, target.module, before, after)
            known[why] += 1
            if not why:
                open_ones.append(f"| `{target.module}:{line}` | {_quote(before)} | {_quote(after)} |")
    lines += ["## Survivors that no test should kill", "", "| number | why |", "|---|---|"]
    lines += [f"| {count} | {why} |" for why, count in known.most_common() if why]
    lines += ["", "## Survivors without a reason", "", "| line | is | changed to |", "|---|---|---|", *open_ones, ""]
    RESULTS.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(lines), encoding="utf-8")
    figures = FIGURES.read_text(encoding="utf-8")
    for group, targets in groups.items():
        if all(read_result(target) for target in targets):
            row = next(line for line in report({group: targets}) if line.startswith(f"| **{group}**"))
            figures = re.sub(rf"^\| \*\*{group}\*\* .*$", row, figures, flags=re.MULTILINE)
    FIGURES.write_text(figures, encoding="utf-8")


def _quote(code: str) -> str:
    return "`` " + code[:150].replace("|", "\\|") + " ``"


def main() -> int:
    """Run what the command line names; return the exit code."""
    groups = configured_groups()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(groups)}, or modules of theirs; all without")
    parser.add_argument("--again", action="store_true", help="only what survived the last run")
    parser.add_argument("--list", action="store_true", help="print the survivors of the last run")
    parser.add_argument("--page", action="store_true", help="write the figures of the last runs")
    parser.add_argument(
        "--sample", type=int, default=0, help="run only so many mutants of each module, chosen at random"
    )
    parser.add_argument("--jobs", type=int, default=1, help="mutants at the same time")
    options = parser.parse_args()
    from hypothesis import HealthCheck, Phase, settings

    settings.register_profile(
        "mutants", derandomize=True, database=None, deadline=None, max_examples=25,
        phases=(Phase.explicit, Phase.generate), suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    wanted = set(options.groups) or set(groups)
    chosen = {name: [t for t in targets if name in wanted or t.module in wanted] for name, targets in groups.items()}
    chosen = {name: targets for name, targets in chosen.items() if targets}
    if options.list:
        for targets in chosen.values():
            for target in targets:
                for line, before, after in (read_result(target) or {"survivors": ()})["survivors"]:
                    print(f"{target.module}:{line}\n  - {before}\n  + {after}")
        return 0
    if options.page:
        write_page(groups)
    else:
        os.chdir(ROOT)
        os.nice(19)
        RESULTS.mkdir(parents=True, exist_ok=True)
        code = run_targets([t for ts in chosen.values() for t in ts], options.again, options.jobs, options.sample)
        if code:
            return code
    print("\n".join(report(chosen)))
    return int(any(_killed_share(targets) < LIMIT for targets in chosen.values()))


if __name__ == "__main__":
    sys.exit(main())
