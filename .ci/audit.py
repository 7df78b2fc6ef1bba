"""Looks up what `.ci/lock.txt` pins in a database of known vulnerabilities, with pip-audit.

Exit code 1 with the list where there are some; 0 with the reason where the database cannot be reached: then nothing
was found to be wrong, and nothing to be right.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LOCK = Path(__file__).with_name("lock.txt")


def judge_answer(answer: dict[str, Any]) -> tuple[int, str]:
    """Return exit code and text for pip-audit's JSON."""
    packages = answer["dependencies"]
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    found = [(package, fault) for package in packages for fault in package.get("vulns", ())]
    if found:
        return 1, "\n".join(
            f"{package['name']} {package['version']}: {fault['id']}, fixed in {', '.join(fault['fix_versions']) or '-'}"
            for package, fault in found
        )
    if len(unknown) == len(packages):
        return 0, "known vulnerabilities: skipped, the database knows none of the packages: it is not reachable"
    text = f"known vulnerabilities: none in {len(packages) - len(unknown)} packages"
    return 0, text + (f"; not in the database: {', '.join(unknown)}" if unknown else "")


def main() -> int:
    """Run pip-audit; return the exit code."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(LOCK), "--require-hashes", "--disable-pip"]
    done = subprocess.run([*command, "--format=json", "--progress-spinner=off"], capture_output=True, text=True)
    try:
        code, text = judge_answer(json.loads(done.stdout))
    except (ValueError, KeyError):
        last = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        code, text = 0, f"known vulnerabilities: skipped, pip-audit cannot look them up: {last[:200]}"
    print(text)
    return code


if __name__ == "__main__":
    sys.exit(main())
