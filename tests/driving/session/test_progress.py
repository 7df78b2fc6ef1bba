"""Listeners of a drive."""

from trailbrake.driving.session.progress import MessagePrinter, SilentListener
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
