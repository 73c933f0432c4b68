# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM end a command of this package within two seconds, with exit code 130, and every process that it has started.

Both raise KeyboardInterrupt, so that a command ends by itself where it can. What does not hear of it, such as a library that waits
for a database, is ended by a thread.
"""

import contextlib
import ctypes
import os
import pathlib
import signal
import threading
import time

# The rest of two seconds is what a busy machine needs to wake a thread.
_UNTIL_THE_END = 1.5
# Processes that are killed start no others for long: each look ends a generation.
_FOR_THE_LAST = 0.1
_SET_CHILD_SUBREAPER = 36  # of prctl(2)


def answer(code):
    """For a process that is a command, once, in its main thread. `code`: what it exits with."""
    # Processes whose parent has ended become children of this one, so that they are found.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    heard, told = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    os.set_blocking(heard, True)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    threading.Thread(target=_end_in_time, args=(heard, code), daemon=True).start()


def end(code):
    """Ends all processes that this one has started, and those that they have started; then this one, at once: threads that wait for
    something do not delay it."""
    deadline = time.monotonic() + _FOR_THE_LAST
    while (living := _descendants()) and time.monotonic() < deadline:
        for process in living:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.001)
    os._exit(code)


def _interrupt(number, frame):
    raise KeyboardInterrupt


def _end_in_time(heard, code):
    while os.read(heard, 1)[0] not in (signal.SIGINT, signal.SIGTERM):
        pass
    time.sleep(_UNTIL_THE_END)
    end(code)


def _descendants():
    """Their numbers; zombies count as dead."""
    parents = {}
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent, *_ = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if state not in "ZX":
                parents[int(folder.name)] = int(parent)
    found = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}
