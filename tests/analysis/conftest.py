import sys
from pathlib import Path

# The synthetic drives are the recordings' test data, and the reports' too.
sys.path.insert(0, str(Path(__file__).parents[1] / "record"))
