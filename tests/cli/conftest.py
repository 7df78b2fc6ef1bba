import json

import pytest

from trailbrake.cli.main import run_command_line


class Said:
    """What one command line did: its exit code, standard output, and lines on standard error."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err.splitlines()

    @property
    def object(self):
        assert self.out.count("\n") == 1, "more than one line on stdout"
        return json.loads(self.out)

    @property
    def error(self):
        """The one line of a refusal."""
        (line,) = self.err
        assert line.startswith("trailbrake: ")
        # With --json the refusal is an object too.
        assert (self.code, self.out) in ((2, ""), (2, json.dumps({"error": line.removeprefix("trailbrake: ")}) + "\n"))
        return line


@pytest.fixture
def cli(capsys, monkeypatch):
    """Return cli("drive", "--laps", 1): runs a command line in this process."""
    # Else the first test to run after a change of the kernels would see one line more.
    monkeypatch.setattr("trailbrake.driving.session.driver_choice.CACHE_IS_COLD", False)
    monkeypatch.setattr("trailbrake.driving.serve.CACHE_IS_COLD", False)

    def call(*words):
        capsys.readouterr()
        code = run_command_line([str(word) for word in words])
        return Said(code, *capsys.readouterr())

    return call
