"""A disk so small that it can be filled: a tmpfs, mounted on a folder of its own."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

CHUNK = bytes(1024 * 1024)


class NotPossible(Exception):
    """A fault that this machine does not allow; the sentence says why."""


class SmallDisk:
    """So many megabytes, in memory, from `with` to its end. Raises NotPossible."""

    def __init__(self, megabytes: int) -> None:
        self._megabytes = megabytes
        self.folder = Path(tempfile.mkdtemp(prefix="roundlog-disk-"))
        self._ballast = self.folder / "ballast"

    def __enter__(self) -> Self:
        words = ["mount", "-t", "tmpfs", "-o", f"size={self._megabytes}m,mode=755", "roundlog-chaos", str(self.folder)]
        try:
            done = subprocess.run(words, capture_output=True, text=True)
            said = done.stderr.strip() if done.returncode else ""
        except OSError as error:
            said = str(error)
        if said:
            self.folder.rmdir()
            raise NotPossible(f"a small disk is a tmpfs, which root mounts; here: {said}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.give_back()
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def fill(self) -> None:
        """Takes the space that is left, to the last byte."""
        with self._ballast.open("ab", buffering=0) as ballast:
            for piece in (CHUNK, CHUNK[:4096], CHUNK[:1]):
                try:
                    while ballast.write(piece):
                        pass
                except OSError:  # there is no room for a piece of this size
                    continue

    def give_back(self) -> None:
        """Frees what `fill` took."""
        self._ballast.unlink(missing_ok=True)


def run_with_own_mounts() -> None:
    """Begins this program again where its mounts are seen by itself alone, and go with it even after kill -9.

    Does nothing where that cannot be had.
    """
    unshare = shutil.which("unshare")
    if os.geteuid() != 0 or unshare is None or OWN_MOUNTS in sys.argv:
        return
    own = [unshare, "--mount", "--propagation", "private"]
    if subprocess.run([*own, "true"], capture_output=True).returncode == 0:
        os.execv(unshare, [*own, sys.executable, "-m", "tests.chaos", OWN_MOUNTS, *sys.argv[1:]])


OWN_MOUNTS = "--own-mounts"
