#!/bin/sh
# Correctness and speed on a graphics card, within four minutes: sh .ci/card.sh [FOLDER FOR RESULTS]
# Installs the package with its extra `gpu` if it cannot be imported. Without a network: PIP_NO_INDEX=1
# PIP_FIND_LINKS=folder of wheels, or whatever is installed on PYTHONPATH.
out=${1:-${OUT:-build/card}}
mkdir -p "$out"
PY=${PY:-python3}
export PYTHONPATH="src:tests${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv > "$out/card.txt" 2>&1
$PY -c 'import numba.cuda, trailbrake.env.batch, pytest' 2> "$out/import.txt" ||
    $PY -m pip install --quiet --target build/card-site '.[gpu]' pytest pytest-xdist hypothesis || exit 1
[ -d build/card-site ] && PYTHONPATH="$PYTHONPATH:build/card-site"
began=$(date +%s)
# Processes side by side: each compiles its kernels, most of a minute on one core.
timeout 150 $PY -m pytest -n 8 -q -rA -p no:cacheprovider -p no:benchmark -m 'slow or train' \
    tests/world/test_cuda.py tests/env/test_cuda.py tests/train/rl/test_cuda_rollout.py -k 'real_card' > "$out/tests.txt" 2>&1
echo "tests: exit code $?, $(($(date +%s) - began)) s" | tee "$out/summary.txt"
grep -E '^(double|single) \{|passed|failed|PASSED|FAILED|SKIPPED|Error' "$out/tests.txt" | cut -c 1-600 | tee -a "$out/summary.txt"
timeout 110 $PY -W ignore -m trailbrake bench cuda --json > "$out/bench.json" 2> "$out/bench.txt"
echo "bench: exit code $?, $(($(date +%s) - began)) s" | tee -a "$out/summary.txt"
cat "$out/bench.json"
tail -n 5 "$out/bench.txt"
