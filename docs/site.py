"""Builds the documentation site from the pages of the repository: `python docs/site.py` writes build/site.

The pages are read where they are, and look right there too. What only a site needs is made here: links out of `docs/`
(CONTRIBUTING.md, the examples) become links to pages of the site, and the API reference is made of docstrings, by the
names that `import trailbrake` offers and the modules below. A warning of the builder is a failure. `--serve` shows the
site at http://localhost:8000.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import trailbrake
from trailbrake.state import CarState, Controls, OtherCar, WheelState, WheelTorque
from trailbrake.state.tables import markdown_table

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "build" / "site-pages"  # zensical.toml names it
COPIED = (".md", ".svg", ".png", ".webp", ".css")
OUTSIDE = {
    "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "README.zh-CN.md": "readme.zh-cn.md",
    "experiments/README.md": "experiments.md",
}  # fmt: skip
STATE_TYPES = (CarState, WheelState, OtherCar, Controls, WheelTorque)
API_MODULES = {  # page: modules whose public names it shows, besides the names of the package
    "state": ("trailbrake.state.car_state", "trailbrake.state.controls", "trailbrake.state.commands"),
    "units": ("trailbrake.units", "trailbrake.frames"),
    "recordings": ("trailbrake.record.recording_reader",),
    "environments": ("trailbrake.env.gym", "trailbrake.env.batch", "trailbrake.env.options"),
    "roles": ("trailbrake.roles",),
    "errors": ("trailbrake.errors",),
}


def stage_pages() -> None:
    """Lay all pages of the site out in build/site-pages."""
    shutil.rmtree(PAGES, ignore_errors=True)
    sources = [p for p in (ROOT / "docs").rglob("*") if p.suffix in COPIED]
    for source in sources:
        target = PAGES / source.relative_to(ROOT / "docs")
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            target.write_text(turn_links(source.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            shutil.copyfile(source, target)
    for name, page in OUTSIDE.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        (PAGES / page).write_text(re.sub(r"\]\((?:\.\./)?docs/", "](", turn_links(text)), encoding="utf-8")
    for path in sorted((ROOT / "examples").glob("*.py")):
        page = PAGES / "examples" / f"{path.stem}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"# {path.name}\n\n```python\n{path.read_text(encoding='utf-8')}```\n", encoding="utf-8")
    stage_reference()


def turn_links(text: str) -> str:
    """Return a page with its links to files outside `docs/` turned to the pages of the site that show them."""
    for name, page in OUTSIDE.items():
        text = text.replace(f"](../{name}", f"]({page}").replace(f"]({name}", f"]({page}")
    text = text.replace("](README.md", "](index.md").replace("](../README.md", "](index.md")
    return re.sub(r"\]\((?:\.\./)?examples/(\w+)\.py\)", r"](examples/\1.md)", text)


def stage_reference() -> None:
    """Write the pages of the API reference: the names of the package, and one page per group of modules."""
    folder = PAGES / "api"
    folder.mkdir()
    names = {name: ".".join(place) for name, place in sorted(trailbrake._LAZY.items())}
    blocks = [
        f"## {name}\n\n::: {path}\n    options:\n      show_root_heading: false\n" for name, path in names.items()
    ]
    head = "# trailbrake\n\nThe names that `import trailbrake` offers. They are loaded when first used.\n\n"
    (folder / "index.md").write_text(head + "\n".join(blocks), encoding="utf-8")
    for page, modules in API_MODULES.items():
        text = f"# {page.capitalize()}\n\n" + "\n".join(f"## {name}\n\n::: {name}\n" for name in modules)
        if page == "state":  # fields are declared by `quantity`, which the builder does not read
            text += "".join(f"\n## Fields of {kind.__name__}\n\n{markdown_table(kind)}\n" for kind in STATE_TYPES)
        (folder / f"{page}.md").write_text(text, encoding="utf-8")


def main() -> None:
    """Stage the pages and run the builder on them."""
    stage_pages()
    command = (
        [sys.executable, "-m", "zensical", "serve"]
        if "--serve" in sys.argv
        else [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    )
    sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
