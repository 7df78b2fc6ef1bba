# `make check` is what CI runs after it has made a fresh environment. PY is the Python that has ".[dev]" installed.
PY ?= .venv/bin/python

.PHONY: check quick lint types imports test fuzz windows faults docs validation format mutants lock audit release site

check: lint types imports test

lint:
	$(PY) -m ruff check src tests docs examples experiments
	$(PY) -m ruff format --check src tests docs examples experiments
	$(PY) docs/generate.py --check

types:
	$(PY) -m mypy

imports:
	$(PY) -c "from importlinter.cli import lint_imports_command; lint_imports_command()"

test:
	$(PY) -m pytest -n 3  # more than two cores: drives at the pace of real time mostly wait

# Unit tests alone: no whole drives, no processes, a quarter of the random examples.
quick:
	$(PY) -m pytest -n 2 -q --hypothesis-profile=quick -m "not slow and not rl and not train and not vm and not fmi and not wine and not faults and not documents"

# Fuzzing of every decoder and loader, by Atheris where it is installed, else by Hypothesis: make fuzz FUZZ_S=3600
fuzz:
	PYTHONPATH=tests $(PY) -m fuzz --seconds $(or $(FUZZ_S),600)

# Under wine, in a folder that is laid out once (1 GB). On Windows itself: `make test`, or its line.
windows:
	$(PY) .ci/windows.py $(or $(WINDOWS),build/windows)

# The whole fault matrix, about an hour; its figures go to docs/faults.md. Run it on a quiet machine.
faults:
	$(PY) -m tests.faults --measure
	$(PY) docs/generate.py

# The documentation site in build/site; needs ".[docs]".
site:
	$(PY) docs/site.py

docs:
	$(PY) docs/generate.py

# Needs ".[test,plot]", and the shared folder for the reference lap.
validation:
	$(PY) experiments/validation.py

format:
	$(PY) -m ruff check --fix src tests docs examples experiments
	$(PY) -m ruff format src tests docs examples experiments

# Tests of the tests; needs ".[mutation]". Of some groups or modules alone: `make mutants MUTANTS="laps codecs"`.
mutants:
	$(PY) .ci/mutants.py $(MUTANTS)

# What CI installs; needs ".[release]". Run it after a change of the dependencies, and now and then for new versions.
lock:
	echo hatchling | $(PY) -m uv pip compile pyproject.toml - --quiet --upgrade --universal --python-version 3.11 \
		--extra dev --extra release --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate \
		--output-file .ci/lock.txt

# Known vulnerabilities of what the lock pins; needs ".[release]".
audit:
	$(PY) .ci/audit.py

# Packages, their bill of materials (CycloneDX) and their sums, in build/release; needs ".[release]".
RELEASE ?= build/release
release:
	rm -rf $(RELEASE) build/release-env
	$(PY) -m build --outdir $(RELEASE) .
	$(PY) -m venv --without-pip build/release-env
	$(PY) -m pip --python build/release-env/bin/python install -q $(RELEASE)/*.whl
	rm -f build/release-env/lib/python*/site-packages/trailbrake-*.dist-info/direct_url.json
	sed "s/^dynamic = .*/version = \"`$(PY) -m hatchling version`\"/" pyproject.toml > build/release-project.toml
	$(PY) -m cyclonedx_py environment --pyproject build/release-project.toml --output-reproducible --output-format JSON \
		--output-file $(RELEASE)/trailbrake.cdx.json build/release-env/bin/python
	cd $(RELEASE) && sha256sum * > SHA256SUMS
