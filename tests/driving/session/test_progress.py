"""Listeners of a drive."""

import sys
from types import ModuleType, SimpleNamespace

from trailbrake.driving.session.progress import MessagePrinter, NotebookListener, SilentListener, make_listener
from trailbrake.laps import LapRecord
from trailbrake.state import CarState


def test_a_message_printer_passes_messages_on_and_nothing_else():
    said = []
    printer = MessagePrinter(said.append)
    printer.show_message("moving")
    printer.show_lap(LapRecord(1, 61.5, True, (), "", 0.0, 0))
    printer.show_progress(0.5, CarState(), 1)
    assert said == ["moving"]
    assert isinstance(printer, SilentListener)


class ZMQInteractiveShell:
    """Of a notebook."""


def ipython(monkeypatch, shell):
    module, shown = ModuleType("IPython"), []
    module.get_ipython = lambda: shell
    display = ModuleType("IPython.display")
    display.HTML = str
    display.display = lambda line, display_id: shown.append([line]) or SimpleNamespace(update=shown[-1].append)
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def test_a_notebook_alone_has_progress(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert type(make_listener()) is SilentListener
    ipython(monkeypatch, object())
    assert type(make_listener()) is SilentListener  # of a terminal
    ipython(monkeypatch, ZMQInteractiveShell())
    assert type(make_listener()) is NotebookListener


def test_one_line_changes_and_messages_are_printed(monkeypatch, capsys):
    shown = ipython(monkeypatch, ZMQInteractiveShell())
    listener = NotebookListener()
    listener.show_progress(0.25, CarState(speed=20.0), 1)
    listener.show_progress(0.5, CarState(speed=30.0), 2)
    assert shown == [
        ['<progress value="0.250"></progress> lap 1, 72 km/h', '<progress value="0.500"></progress> lap 2, 108 km/h']
    ]
    listener.show_message("slow")
    listener.show_lap(LapRecord(1, 62.5, False, (), "contact", 0.0, 1))
    assert capsys.readouterr().out.splitlines() == ["slow", "lap 1: 1:02.500, contact"]
