"""`LogWork`: the columns of a lap log on their way to ours, with what was decided."""

from dataclasses import dataclass, field

from trailbrake.record.lap_logs.channel_names import ChannelNames
from trailbrake.record.lap_logs.lap_log import Array, LapLog


@dataclass
class LogWork:
    """A log on its way."""

    log: LapLog
    where: str
    names: ChannelNames
    columns: dict[str, Array] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)  # as the log states them
    labels: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def rename(self, column: str, name: str) -> str:
        """Make another column of one; return the name."""
        self.columns[name] = self.columns.pop(column)
        self.units[name], self.labels[name] = self.units.pop(column), self.labels.pop(column)
        return name

    def leave_out(self, column: str, why: str) -> None:
        """Take a column out, for a reason."""
        self.left_out.append(f"{self.labels.get(column, column)}: {why}")
        del self.columns[column]
