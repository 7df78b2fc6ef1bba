"""All cells, and how to run one."""

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
        self._key = self._rig = None

    def run(self, cell, suspend_s=30.0, patience=1.0):
        """Return the findings of `cell`; `patience` lengthens all of its limits, for a busy machine."""
        outcome = cell.outcome
        slower = replace(outcome, safe_s=patience * outcome.safe_s, car_s=patience * outcome.car_s)
        cell = replace(cell, outcome=slower)
        key = cell.wire, cell.end
        if key != self._key:
            self.close()
        make_rig, run_cell = RIGS[cell.end]
        if self._rig is None:
            self._rig, self._key = make_rig(WIRES[cell.wire]), key
        self._rig.patience = patience
        reusable = False
        try:
            findings, reusable = run_cell(self._rig, cell, suspend_s)
        finally:
            if not reusable:
                self.close()
        return findings

    def close(self):
        if self._rig is not None:
            self._rig.close()
        self._rig = None
