"""Ties a process to the one that started it: `leash.py <parent's pid> <signal> <user or -> <command...>`.

Run as a file, it asks the kernel to signal this process when its parent dies, even by kill -9, then
becomes the command. Only the standard library, so that it starts in a few milliseconds.
"""

import ctypes
import os
import pwd
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    parent, death_signal, user, *command = sys.argv[1:]
    if user != "-":
        entry = pwd.getpwnam(user)
        os.setgroups([])
        os.setgid(entry.pw_gid)
        os.setuid(entry.pw_uid)
    # A change of user clears the wish, so it comes after it.
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel will not tie this process to its parent")
    if os.getppid() != int(parent):
        # The parent died before the kernel was asked.
        os.kill(os.getpid(), signal.SIGKILL)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
