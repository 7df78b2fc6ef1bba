"""All cells, and how to run one."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from faults.client_rig import ClientRig
from faults.client_scenarios import run_client_cell
from faults.client_table import CLIENT
from faults.host_rig import HostRig
from faults.host_scenarios import run_host_cell
from faults.host_table import HOST
from faults.outcomes import ENDS, FAULTS, WIRE_NAMES, Cell
from faults.wires import WIRES

TABLES = {"client": CLIENT, "host": HOST}
RIGS = {"client": (ClientRig, run_client_cell), "host": (HostRig, run_host_cell)}


def list_cells():
    """Return every cell, meaningful or not, by wire and end."""
    return [Cell(wire, end, fault, TABLES[end][fault][wire]) for wire in WIRE_NAMES for end in ENDS for fault in FAULTS]


class RigPool:
    """Keeps the rig of the last cell for the next one of the same wire and end, where it has survived."""

    def __init__(self):
        self._key = self._rig = self._prepared = None
        self._starter = ThreadPoolExecutor(1)

    def prepare(self, cell):
        """Start the rig of the cell that is to be run next, while this one is."""
        self._prepared = (cell.wire, cell.end), self._starter.submit(RIGS[cell.end][0], WIRES[cell.wire])

    def _make_rig(self, key):
        prepared, self._prepared = self._prepared, None
        if prepared is not None:
            rig = prepared[1].result()
            if prepared[0] == key:
                return rig
            rig.close()
        wire, end = key
        return RIGS[end][0](WIRES[wire])

    def run(self, cell, suspend_s=30.0, patience=1.0, following=None):
        """Return the findings of `cell`; `patience` lengthens all of its limits, for a busy machine.

        The rig of the cell `following` starts meanwhile.
        """
        outcome = cell.outcome
        slower = replace(outcome, safe_s=patience * outcome.safe_s, car_s=patience * outcome.car_s)
        cell = replace(cell, outcome=slower)
        key = cell.wire, cell.end
        if key != self._key:
            self.close()
        if self._rig is None:
            self._rig, self._key = self._make_rig(key), key
        self._rig.patience = patience
        if following is not None:
            self.prepare(following)
        reusable = False
        try:
            findings, reusable = RIGS[cell.end][1](self._rig, cell, suspend_s)
        finally:
            if not reusable:
                self.close()
        return findings

    def close_all(self):
        self.close()
        if self._prepared is not None:
            self._prepared[1].result().close()
        self._starter.shutdown()

    def close(self):
        if self._rig is not None:
            self._rig.close()
        self._rig = None
