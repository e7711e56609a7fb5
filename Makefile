# Every target that has a sentence behind ## is shown by `make`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
BIN := .venv/bin
JARS := .local/kafka
PROMETHEUS := .local/prometheus
SCHEMAS := $(wildcard proto/roundlog/*/v*/*.proto)
GENERATED := $(SCHEMAS:.proto=_pb2.py) $(SCHEMAS:.proto=_pb2.pyi)

export PYTHONPATH := $(CURDIR):$(CURDIR)/proto$(if $(PYTHONPATH),:$(PYTHONPATH))

# ROUNDS=20 TABLES=6 PACE=60 are short for ARGS="--rounds 20 --tables 6 --pace 60".
HOUSE := $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(TABLES),--tables $(TABLES)) $(if $(PACE),--pace $(PACE)) $(ARGS)

.PHONY: help
help: ## Show what can be made.
	@sed --quiet --regexp-extended 's/^([a-z-]+):[^#]*## (.*)/  make \1|\2/p' $(MAKEFILE_LIST) | column --table --separator '|' 2>/dev/null || sed --quiet 's/:.*## /  /p' $(MAKEFILE_LIST)

.PHONY: setup
setup: .venv/installed $(JARS)/installed proto ## Get all tools and libraries, into .venv and .local.

.PHONY: run
run: setup ## Open the whole house here; ROUNDS=20 stops by itself, TABLES=6, PACE=60, ARGS="--no-floor".
	@exec $(BIN)/python -m services.runtime.house $(HOUSE)

.PHONY: test
test: setup $(if $(ARGS),,browser prometheus) ## Run every test, on a real Kafka and PostgreSQL; ARGS="tests/core" for some of them.
	$(if $(ARGS),$(BIN)/pytest $(ARGS),$(BIN)/pytest -m "not connected" --numprocesses 2 --dist loadfile)
	$(if $(ARGS),,$(BIN)/pytest -m connected)

.PHONY: browser
browser: ## Get Chromium, in which the tests look at the pages.
	@$(call need,command -v chromium || command -v chromium-browser || command -v google-chrome,chromium,Chromium)
	@$(call need,command -v chromedriver,chromium-driver,Chromium's driver)

.PHONY: containers
containers: setup compose-env ## Try the house in containers: build it, play, scale, kill, stop, take down, bring up. Needs Docker.
	$(BIN)/python -m tests.containers

.PHONY: prometheus
prometheus: $(PROMETHEUS)/installed ## Get Prometheus, by which the tests judge alerts and dashboard.

.PHONY: rules
rules: setup ## Write RULES.md anew: each paragraph of the law, what is done about it, the tests behind it.
	$(BIN)/python -m tests.law

.PHONY: bench
bench: setup ## Measure how fast it is.
	$(BIN)/python -m tests.bench $(ARGS)

.PHONY: chaos
chaos: setup ## Hurt a house of 200 tables while it plays, and compare; TABLES=20, SEED=7, ARGS="kill-tables broker-disk".
	$(BIN)/python -m tests.chaos $(if $(TABLES),--tables $(TABLES)) $(if $(SEED),--seed $(SEED)) $(ARGS)

# SEEDS=5000 STEPS=100 are short for ARGS="--seeds 5000 --steps 100"; SEED=7 is one world with all that happened.
WORLDS := $(if $(SEEDS),--seeds $(SEEDS)) $(if $(SEED),--seed $(SEED)) $(if $(STEPS),--steps $(STEPS)) $(ARGS)

.PHONY: simulate
simulate: setup ## Live through a thousand simulated worlds; SEEDS=5000 for more, SEED=7 for one again.
	@$(BIN)/python -m tests.simulation $(WORLDS)

.PHONY: check
check: setup ## Judge format, style, types, the direction of imports and the schemas; changes nothing.
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/buf lint
	for past in tests/wire/past/*/schema.binpb; do $(BIN)/buf breaking --against "$$past"; done

.PHONY: fix
fix: .venv/installed ## Mend what a tool can mend: format and style.
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: proto
proto: $(GENERATED) ## Generate the Python of every schema, next to it.

.PHONY: lock
lock: .venv/installed ## Pin every library anew, with hashes, from pyproject.toml.
	$(BIN)/uv pip compile pyproject.toml --extra dev --upgrade $(PINS) --output-file requirements/dev.txt
	$(BIN)/uv pip compile pyproject.toml --constraints requirements/dev.txt $(PINS) --output-file requirements/runtime.txt

PINS := --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	--no-emit-index-url --no-emit-find-links --quiet

.PHONY: reset
reset: ## Forget the data of `make run`.
	@test ! -e .local/data/lock || flock --nonblock .local/data/lock true || { echo "The house is open: close it first."; exit 1; }
	rm --recursive --force .local/data

.PHONY: compose-env
compose-env: .env .tokens/jwks.json ## Make .env for docker compose, with new passwords, and tokens in .tokens.

.env:
	@(umask 077; for whose in POSTGRES KAFKA GRAFANA; do \
		echo "$${whose}_PASSWORD=$$($(PYTHON) -c 'import secrets; print(secrets.token_hex(24))')"; done > $@; \
		printf 'TOKENS_OF=%s\nCOMPOSE_PROFILES=watching\n' "$$(id --user):$$(id --group)" >> $@)
	@echo ".env has new passwords."

.tokens/jwks.json: | .venv/installed
	@$(BIN)/python -m services.runtime.issuing .tokens
	@echo ".tokens has a token for everybody of the house, valid for seven days."

%_pb2.py %_pb2.pyi: %.proto | .venv/installed
	$(BIN)/python -m grpc_tools.protoc --proto_path=proto --python_out=proto --pyi_out=proto $<

# The project itself is installed as a link to this folder, without asking for anything over the network.
.venv/installed: requirements/dev.txt pyproject.toml
	@$(call need,$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))',python3,Python 3.11 or newer)
	@$(call need,$(PYTHON) -c 'import ensurepip',python3-venv,Python's venv module)
	@echo "Python libraries, into .venv (about a minute) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index --editable .
	@echo "$(CURDIR)/proto" > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/roundlog_proto.pth"
	@touch $@

$(JARS)/installed: deploy/kafka/pom.xml
	@$(call need,java -version,default-jre-headless,a Java runtime (17 or newer))
	@$(call need,mvn --version,maven,Maven)
	@echo "Kafka, into $(JARS) ..."
	@rm --recursive --force $(JARS) && mkdir --parents .local
	@mvn --quiet --batch-mode --file $< dependency:copy-dependencies -DincludeScope=runtime \
		-DoutputDirectory=$(CURDIR)/$(JARS) > .local/maven.log || { cat .local/maven.log; exit 1; }
	@touch $@

# Debian's package is unpacked, not installed: to install it would start it.
$(PROMETHEUS)/installed:
	@mkdir --parents $(PROMETHEUS)
	@command -v promtool > /dev/null && command -v prometheus > /dev/null \
	|| { echo "Prometheus, into $(PROMETHEUS) ..." && cd $(PROMETHEUS) \
	     && { apt-get download prometheus || { apt-get update && apt-get download prometheus; }; } > apt.log 2>&1 \
	     && dpkg-deb --extract prometheus_*.deb . && rm prometheus_*.deb apt.log; } \
	|| { cat $(PROMETHEUS)/apt.log; echo "This needs prometheus and promtool: install them and try again."; exit 1; }
	@touch $@

# $(call need,what must succeed,Debian's package,its name in words)
define need
{ $(1); } >/dev/null 2>&1 \
|| { [ "$$(id --user)" = 0 ] && command -v apt-get >/dev/null && echo "Installing $(2) ..." \
     && { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $(2); } >/dev/null 2>&1 \
     && { $(1); } >/dev/null 2>&1; } \
|| { echo "This needs $(3): install it (on Debian: apt-get install $(2)) and try again."; exit 1; }
endef
