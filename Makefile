# Everything runs from a virtual environment in .venv, made from the locked requirements.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start hundreds of processes; without it each compiles all it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run demo test check quick quick-cases lint types contracts unit nightly command-marks docs docs-site regenerate page pictures bench load gateway-bench differential fuzz kills lock dist sbom pin clean

# Set everything up, check the shipped organizations, serve them on loopback.
run: $(VENV)/run.stamp
	$(BIN)/orgkernel check --shipped
	$(BIN)/orgkernel serve --path templates

# Set everything up and play a scenario: a new job for an agent, from configuration alone, on real servers.
demo: $(VENV)/dev.stamp
	$(BIN)/orgkernel demo

# Set everything up and run every check there is.
test: check unit

# Two at a time: the types take as long as all the rest.
check: $(VENV)/dev.stamp
	@$(MAKE) --no-print-directory -j 2 types lint contracts docs docs-site

lint: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/dev.stamp
	$(BIN)/mypy

contracts: $(VENV)/dev.stamp
	$(BIN)/lint-imports

docs: $(VENV)/dev.stamp
	$(BIN)/python -m tools.regenerate --check

# The documentation as pages in site/, the generated ones included; fails on a broken link.
docs-site: $(VENV)/dev.stamp
	$(BIN)/python -m tools.site_sources build/site
	cd build/site && ../../$(BIN)/zensical build --strict --clean
	rm -rf site && mv build/site/site site

# For the loop of work: what a change of a rule, a decision or a law breaks, in less than two minutes. The types are those of
# the modules that changed and of the modules that use them, as soon as the cache of mypy is filled.
quick: $(VENV)/dev.stamp
	@$(MAKE) --no-print-directory -j 2 lint types quick-cases

# The cases of rules and decisions, and the laws with a handful of examples each.
quick-cases: $(VENV)/dev.stamp
	ORGKERNEL_DEPTH=0 $(BIN)/pytest -q -n 2 --dist worksteal -m "not nightly and (not deep or hypothesis)" tests/rules tests/decisions tests/property

# Four workers on two cores, because tests of servers and processes wait. What is marked `nightly` is not there.
unit: $(VENV)/dev.stamp $(VENV)/interop.stamp $(VENV)/conformance.stamp $(VENV)/clients.stamp $(VENV)/hosts.stamp $(VENV)/page.stamp
	$(BIN)/pytest -n 4 --dist worksteal --durations=10

# The tests that search (properties, fuzzing, killed writers), with other examples every time: DEPTH times as many as a test
# itself says, of which `make test` takes a sixth; the edges of the API all instead of every eighth one; what is marked
# `nightly`, because it repeats what a test of `make test` shows: the conformance suites of both eras, the built pages of the
# documentation, the older hosts, every case of a corpus by every surface; then a hundred thousand decisions beside Cedar's. CrewAI's checker, Claude Code's command line and the readers
# of Codex, Copilot, OpenCode and Gemini CLI and the loaders of frameworks run here and not in `make test`, because they bring two gigabytes of packages.
DEPTH ?= 25
nightly: $(VENV)/dev.stamp $(VENV)/interop.stamp $(VENV)/conformance.stamp $(VENV)/clients.stamp $(VENV)/hosts.stamp $(VENV)/page.stamp $(VENV)/crewai.stamp $(VENV)/claude.stamp $(VENV)/marks.stamp $(VENV)/readers.stamp $(VENV)/pyreaders.stamp $(VENV)/gatewaybench.stamp
	ORGKERNEL_DEPTH=$(DEPTH) $(BIN)/pytest -m "" -n 2 --dist worksteal --durations=10
	$(MAKE) differential
	$(MAKE) command-marks
	$(MAKE) fuzz FUZZ_SECONDS=60

# Fuzz each reader of text from outside, for an hour each; the corpus stays in .cache/fuzzing for the next run. Prints the rows
# of docs/benchmarks.md.
FUZZ_SECONDS ?= 3600
fuzz: $(VENV)/dev.stamp
	$(BIN)/python -m tests.fuzzing --seconds $(FUZZ_SECONDS)

# Kill `serve`, processes that write to a store, and the gateway: 1,000 times each at the depth of the nightly run.
kills: $(VENV)/dev.stamp
	ORGKERNEL_DEPTH=$(DEPTH) $(BIN)/pytest -m "" -s tests/faults/test_killed_servers.py tests/faults/test_killed_writers.py tests/gateway/test_kills.py

# Compare the command catalog with what a public collection of command lines marks as dangerous.
command-marks: $(VENV)/dev.stamp $(VENV)/marks.stamp
	$(BIN)/python -m benchmarks.command_marks

# Rewrite what is generated and checked in: record modules, JSON Schemas, OpenAPI by tag, tables in pages.
regenerate: $(VENV)/dev.stamp
	$(BIN)/python -m tools.plain_records
	$(BIN)/python -m tools.regenerate

# Take a picture of every view of the page: those of the documentation into docs/assets/page, the others into .work/page; needs Chromium.
pictures: $(VENV)/dev.stamp
	$(BIN)/python -m tools.page_pictures

# Build the page that `serve` shows, from its sources in manifest_api/page, into manifest_api/page/built, which is checked in.
page: $(VENV)/dev.stamp $(VENV)/page.stamp
	$(BIN)/python -m tools.page

# Compare with what a user would take instead: a table of ratios.
bench: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks

# Serve with a store under mixed load, and fail if requests fail or if memory or open files grow without a bound.
SECONDS ?= 600
load: $(VENV)/dev.stamp $(VENV)/load.stamp
	$(BIN)/python -m benchmarks.load --seconds $(SECONDS)

# Call a tool of MCP directly, through a FastMCP proxy and through the gateway, and print what each of them costs.
gateway-bench: $(VENV)/dev.stamp $(VENV)/gatewaybench.stamp
	$(BIN)/python -m benchmarks.gateway

# Decide generated cases ourselves and with Cedar, from an export made of documents alone; 1 on any disagreement.
CASES ?= 100000
SEED ?= 0
differential: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks.differential --cases $(CASES) --seed $(SEED)

lock: $(VENV)/dev.stamp
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group build pyproject.toml -o requirements/run.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group build --extra postgres --extra oidc --extra signing --extra uvloop pyproject.toml -c requirements/run.lock -o requirements/serve.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group dev pyproject.toml -c requirements/run.lock -c requirements/serve.lock -o requirements/dev.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group pyproject.toml:load -o requirements/load.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group pyproject.toml:interop -o requirements/interop.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group pyproject.toml:crewai -o requirements/crewai.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group pyproject.toml:gatewaybench -o requirements/gatewaybench.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group pyproject.toml:conformance -o requirements/conformance.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group pyproject.toml:claude -o requirements/claude.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group pyproject.toml:hosts -o requirements/hosts.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group pyproject.toml:clients -o requirements/clients.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group pyproject.toml:readers -o requirements/readers.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group pyproject.toml:pyreaders -o requirements/pyreaders.lock
	$(MAKE) $(VENV)/conformance.stamp $(VENV)/clients.stamp $(VENV)/marks.stamp $(VENV)/page.stamp $(VENV)/readers.stamp
	for each in conformance clients marks page readers; do (cd requirements/$$each && ../../$(VENV)/$$each/bin/npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved) || exit 1; done
	for each in sarif backstage; do (cd requirements/$$each && ../../$(VENV)/clients/bin/npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved) || exit 1; done

# Whatever lies in the folders of the package gets into it, so a file that git does not know, such as a key, is refused.
dist: $(VENV)/dev.stamp
	! git status --porcelain --ignored orgkernel manifest_api ontology templates extension | grep -E '^(\?\?|!!)' | grep -v __pycache__
	$(BIN)/python -m hatchling build

# A software bill of materials (CycloneDX) of what a user installs, and of what the container holds besides its base.
sbom: $(VENV)/dev.stamp
	mkdir -p dist
	$(BIN)/python -m tools.sbom requirements/run.lock dist/orgkernel.cdx.json
	$(BIN)/python -m tools.sbom requirements/serve.lock dist/orgkernel-container.cdx.json

# Write the newest commits of actions and the newest digests of base images into the files that name them. Needs git,
# docker with buildx, and the network.
pin: $(VENV)/run.stamp
	$(BIN)/python -m tools.pin

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: requirements/run.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/run.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/dev.stamp: requirements/dev.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@ $(VENV)/run.stamp

# Environments of their own: the load generator needs other libraries than the server it loads, and the pins of other
# ecosystems' checkers (`interop`, `crewai`) and of frameworks for agents (`hosts`, `pyreaders`) are not ours.
$(VENV)/load.stamp $(VENV)/interop.stamp $(VENV)/crewai.stamp $(VENV)/claude.stamp $(VENV)/gatewaybench.stamp $(VENV)/hosts.stamp $(VENV)/pyreaders.stamp: $(VENV)/%.stamp: requirements/%.lock | $(VENV)/bin/python
	$(BIN)/python -m venv $(VENV)/$*
	$(VENV)/$*/bin/python -m pip install --quiet --require-hashes -r requirements/$*.lock
	touch $@

# The conformance suite of MCP, the generator of TypeScript clients and the readers of coding agents' files are packages of npm, and need a newer Node.js than many
# machines have: the one of PyPI.
$(VENV)/conformance.stamp $(VENV)/clients.stamp $(VENV)/readers.stamp: $(VENV)/%.stamp: requirements/%.lock requirements/%/package.json requirements/%/package-lock.json | $(VENV)/bin/python
	$(BIN)/python -m venv $(VENV)/$*
	$(VENV)/$*/bin/python -m pip install --quiet --require-hashes -r requirements/$*.lock
	cp requirements/$*/package.json requirements/$*/package-lock.json $(VENV)/$*
	cd $(VENV)/$* && PATH="$$PWD/bin:$$PATH" bin/npm ci --silent --ignore-scripts --no-audit --no-fund
	touch $@

# The specifications of command lines, and what builds and checks the page, are packages of npm, for the same Node.js.
$(VENV)/marks.stamp $(VENV)/page.stamp: $(VENV)/%.stamp: requirements/clients.lock requirements/%/package.json requirements/%/package-lock.json | $(VENV)/bin/python
	$(BIN)/python -m venv $(VENV)/$*
	$(VENV)/$*/bin/python -m pip install --quiet --require-hashes -r requirements/clients.lock
	cp requirements/$*/package.json requirements/$*/package-lock.json $(VENV)/$*
	cd $(VENV)/$* && PATH="$$PWD/bin:$$PATH" bin/npm ci --silent --ignore-scripts --no-audit --no-fund
	touch $@

clean:
	rm -rf $(VENV) .cache site dist build .mypy_cache .ruff_cache .pytest_cache
