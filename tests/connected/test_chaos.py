"""A short run of `make chaos`: real faults under play, and everything compared with what the clients were told."""

import subprocess
import sys

import pytest

from services.runtime.local import ROOT

FAULTS = ("kill-tables", "kill-broker", "kill-database", "paused")


@pytest.mark.timeout(900)
def test_nothing_that_a_client_was_told_is_contradicted() -> None:
    words = [sys.executable, "-m", "tests.chaos", "--tables", "6", *FAULTS]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr
    assert "0 contradictions." in said.stdout
