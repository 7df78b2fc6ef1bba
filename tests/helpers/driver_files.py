"""Drivers in a file, of a few lines each."""


def write_driver(path, act="return Controls()", needs="frozenset()", reset="pass"):
    """Write a driver that does `act` in each tick and `reset` before the first; return the file's path."""
    body = "".join(f"        {line}\n" for line in act.splitlines())
    path.write_text(
        f"from trailbrake import Controls\nclass Driver:\n    NEEDS = {needs}\n    def reset(self, course):\n"
        f"        {reset}\n    def act(self, state, dt):\n{body}", "utf-8",
    )  # fmt: skip
    return path
