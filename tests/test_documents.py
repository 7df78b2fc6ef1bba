"""Commands and code in the documents: they parse and are what the repository has; the first pages run as written."""

import json
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from trailbrake import check_driver
from trailbrake.cli.main import _find_sim_flag, build_command_line, run_command_line
from trailbrake.sims import registry

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / name for name in ("README.md", "README.zh-CN.md", "CONTRIBUTING.md", "experiments/README.md")]
PAGES += sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```([a-z]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"`([\w.]+)`[^`]*\Z")  # "Save this as `NAME`", in the paragraph before a block
EXCERPTS = {  # blocks that show a part of a file; the rest runs or is checked
    ("add-a-simulator.md", "SIMULATOR = Simulator("),
    ("architecture.md", 'speed: float = quantity("m/s"'),
}
# What a test shortens: a page open for a lap in real time, a search of some minutes.
SHORTER = {
    "--speed real --watch --laps 1": "--watch --laps 0 --seconds 3",
    "replay last --watch": "replay last --watch --seconds 1",
    "--trials 32": "--trials 2",
    "--track oval --laps 1 --watch": "--track oval --laps 0 --seconds 3 --watch",
    " --open": "",
    "--laps 5 --out laps": "--laps 1 --out laps",  # what follows needs PyTorch
    "trailbrake train clone laps --out mine.npz\n": "",
    "trailbrake drive --sim trend --driver policy:mine.npz --track oval --laps 1\n": "",
}


def code_blocks(page):
    """Return (paragraph before, language, content) of each block of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        (text[: found.start()].rstrip().rsplit("\n\n", 1)[-1], found[1], found[2]) for found in BLOCK.finditer(text)
    ]


def split_command(line):
    """Return the tokens behind `trailbrake` in a line of a shell, without what the shell keeps; None if it is none."""
    if not re.match(r"\s*(\S*\.venv\S*bin.)?trailbrake ", line):
        return None
    tokens = shlex.split(line, comments=True)[1:]
    ends = [i for i, token in enumerate(tokens) if token in ("|", "&", "&&", ">")]
    return tokens[: ends[0]] if ends else tokens


def commands_of(content):
    lines = content.replace("\\\n", " ").splitlines()
    return [tokens for tokens in map(split_command, lines) if tokens is not None]


@cache
def command_line(sim, verb, name):
    return build_command_line(registry.find(sim), verb, name)


def parse(tokens):
    app = command_line(_find_sim_flag(tokens), *[*tokens, "", ""][:2])
    return app.parse_args(tokens, exit_on_error=False, print_error=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_the_documents_is_one(page):
    for _, _, content in code_blocks(page):
        for tokens in commands_of(content):
            parse(tokens)


def test_a_command_that_is_none_does_not_parse():
    from cyclopts import CycloptsError

    for line in ("trailbrake drive --no-such-flag 3", "trailbrake drives", "trailbrake drive --laps many"):
        with pytest.raises(CycloptsError):
            parse(split_command(line))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_driver_of_the_documents_is_a_driver(page, tmp_path):
    for number, (_, language, content) in enumerate(code_blocks(page)):
        if language == "python" and "class Driver" in content:
            path = tmp_path / f"driver_{number}.py"
            path.write_text(content if "import" in content else f"from trailbrake import Controls\n{content}", "utf-8")
            assert check_driver(str(path)) == []


def test_excerpts_stand_in_the_repository():
    sources = "".join(p.read_text(encoding="utf-8") for folder in ("src", "examples")
                      for p in (ROOT / folder).rglob("*.py"))  # fmt: skip
    lines = {line.split("#")[0].strip() for line in sources.splitlines()}
    for name, start in EXCERPTS:
        [content] = [c for _, _, c in code_blocks(ROOT / "docs" / name) if c.startswith(start)]
        missing = [line for line in content.splitlines() if line.split("#")[0].strip() not in lines]
        assert not missing, f"{name} shows what no file has: {missing}"


def test_troubleshooting_quotes_messages_that_exist():
    folder = ROOT / "src" / "trailbrake"
    sources = "".join(p.read_text(encoding="utf-8") for p in folder.rglob("*") if p.suffix in (".py", ".js"))
    quoted = []
    for line in (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8").splitlines():
        seen = line.split("|")[1] if line.startswith("| ") else ""
        quoted += [text for text in re.findall(r"`([^`]+)`", seen) if " " in text]
    assert len(quoted) > 10
    for text in quoted:
        assert all(part.strip() in sources for part in text.split("...")), text


def test_files_of_ours_that_pages_name_are_there():
    """Paths with a folder: those without one are files that readers make."""
    known = {path.relative_to(ROOT).as_posix() for folder in ("src", "tests", "docs", "examples", "experiments")
             for path in (ROOT / folder).rglob("*.py")}  # fmt: skip
    named = {(page.name, name) for page in [*PAGES, *(ROOT / "docs" / "decisions").glob("*.md")]
             for name in re.findall(r"`([a-z_]+/[a-z_/0-9]+\.py)\b", page.read_text(encoding="utf-8"))}  # fmt: skip
    assert len(named) > 50
    assert not [
        name for name in sorted(named) if not any(path.endswith(f"/{name[1]}") or path == name[1] for path in known)
    ]


def test_the_chinese_readme_has_the_sections_the_code_and_the_links_of_the_english_one():
    pages = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh-CN.md")]
    for part in (r"^(##) ", r"^```.*?^```", r"\]\(((?:docs/|CONTRIBUTING)[\w./-]+)"):
        english, chinese = (re.findall(part, page, re.MULTILINE | re.DOTALL) for page in pages)
        if part.startswith("^"):
            assert english == chinese, "in the same order"
        assert set(english) == set(chinese)


def test_every_page_is_in_the_navigation_of_the_site():
    listed = set(re.findall(r'"([\w./-]+\.md)"', (ROOT / "zensical.toml").read_text(encoding="utf-8")))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} <= listed


@pytest.mark.documents
@pytest.mark.parametrize("page", ["index.md", "compare.md"])
def test_what_a_page_shows_as_output_is_printed(page, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path / "recordings"))
    printed = ""
    for _, language, content in code_blocks(ROOT / "docs" / page):
        if language == "text":
            for line in filter(None, (" ".join(line.split()) for line in content.splitlines())):
                assert line in printed, f"{page} shows what is not printed: {line}"
            return
        for tokens in commands_of(content) if language == "" else ():
            capfd.readouterr()
            assert run_command_line([*tokens, "--no-page"] if tokens[0] == "compare" else tokens) == 0
            printed = " ".join("".join(capfd.readouterr()).split())
    pytest.fail("no output is shown")


@pytest.fixture
def run_page(tmp_path, monkeypatch, capfd):
    """A function that saves the files of a page, runs its commands and yields (tokens, result) of each."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path / "recordings"))

    def run(page):
        for before, language, content in code_blocks(ROOT / "docs" / page):
            if language in ("python", "toml"):
                Path(SAVED.search(before)[1]).write_text(content, encoding="utf-8")
                continue
            for old, new in SHORTER.items():
                content = content.replace(old, new)
            for tokens in commands_of(content) if language == "" else ():
                capfd.readouterr()
                code = run_command_line([*tokens, "--json"])
                out, err = capfd.readouterr()
                assert code == 0, (tokens, err[-2000:])
                yield tokens, json.loads(out)

    return run


@pytest.mark.documents
@pytest.mark.parametrize("page", ["index.md", "tutorial.md"])
def test_the_first_pages_run_as_written(page, run_page):
    promised = {}  # driver's file: s in the title over it
    for found in re.finditer(r"^## .*: ([\d.]+) s\n.*?`(step\d\.py)`", (ROOT / "docs" / page).read_text("utf-8"),
                             re.MULTILINE | re.DOTALL):  # fmt: skip
        promised[found[2]] = float(found[1])
    kept = set()
    for tokens, result in run_page(page):
        driver = tokens[tokens.index("--driver") + 1] if "--driver" in tokens else ""
        if tokens[0] == "drive" and driver in promised:
            assert result["best_s"] == pytest.approx(promised[driver], abs=0.06)
            assert all(lap["valid"] for lap in result["laps"])
            kept.add(driver)
    assert kept == set(promised)


@pytest.mark.documents
def test_the_lessons_run_as_written_and_take_the_times_that_they_name(run_page):
    promised = set(re.findall(r"(\d+\.\d) s\b", (ROOT / "docs" / "class.md").read_text("utf-8")))
    results = {}
    for tokens, result in run_page("class.md"):
        results.setdefault(tokens[0], []).append(result)
    swinging, slow, quick = results["drive"][1:4]
    assert swinging["off_track_s"] > 10.0
    assert quick["best_s"] < slow["best_s"]
    driven = [lap["time_s"] for drive in results["drive"] for lap in drive["laps"]]
    driven += [entry["best_s"] for day in results["race"][0]["days"] for entry in day["races"][0]["results"]]
    assert len(promised) == 3
    assert promised <= {f"{time:.1f}" for time in driven}
