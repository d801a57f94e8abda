"""The way to the daemon: its socket, and a start if there is none."""

from __future__ import annotations

import errno
import os
import socket as sockets
import time
from typing import TYPE_CHECKING

from . import _places
from ._item import CacheError

if TYPE_CHECKING:
    from ._plain import Plain

#: Seconds between two attempts to connect, at first and at last.
FIRST_PAUSE, LONGEST_PAUSE = 0.02, 1.0
#: Seconds in which a daemon that was there can come back by itself, before another one is started.
_GRACE = 1.0
#: Seconds to wait for the daemon of another program that started at the same moment.
_RACE = 5.0
#: Seconds between two looks at a start.
_LOOK = 0.005
#: What a socket says at which nobody listens, and what it says for a moment only.
_SILENT = (errno.ENOENT, errno.ENOTDIR, errno.ECONNREFUSED)
_PASSING = (errno.ECONNREFUSED, errno.EAGAIN, errno.EMFILE, errno.ENFILE)
#: The status of a daemon if another one holds its directory or its socket: EX_TEMPFAIL of sysexits.h.
_HELD = 75
#: The user's own socket unit comes first. It is of no use if the application names another socket.
_SCRIPT = """
if [ -z "$CACHED_SOCKET" ] && [ $# = 0 ] && [ -S "$XDG_RUNTIME_DIR/systemd/private" ] &&
    systemctl --user start cached.socket 2>/dev/null; then exit; fi
exec "$0" --detach --idle-exit 10min "$@"
"""


#: Where programs are that are not on the path.
FOLDERS = ["/usr/local/bin", "/usr/bin"]


def program(name: str) -> str | None:
    """The path of a program."""
    if os.name != "posix":
        return None
    places = (os.path.join(folder, name) for folder in [*os.get_exec_path(), *FOLDERS])
    return next((place for place in places if os.access(place, os.X_OK) and os.path.isfile(place)), None)


class Daemon:
    """Where the daemon listens, and whether a missing one is started. It holds no descriptor."""

    def __init__(self, directory: str | None, socket: str | None, patience: float, start: bool | None,
                 plain: Plain | None = None):
        self.sockets = [socket] if socket else _places.sockets()
        self.patience = patience
        self.starts = os.environ.get("CACHED_START") != "no" if start is None else start
        #: Downloads in this process, if there is no daemon.
        self.plain = plain
        #: For the programs, if the application names a socket.
        self.options = ["--socket", socket, *(["--directory", directory] if directory else [])] if socket else []

    def connect(self) -> sockets.socket:
        """A connection to the first socket at which there is a daemon, without waiting.

        OSError if there is none: its number is that of the user's own socket, and its text names all of them.
        """
        if not hasattr(sockets, "AF_UNIX"):
            raise OSError(errno.ENOENT, "this system has no Unix sockets")
        number = errno.ENOENT
        problems: list[str] = []
        for path in self.sockets:
            connection = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
            try:
                connection.setblocking(False)
                connection.connect(path)
                return connection
            except (OSError, ValueError) as error:
                connection.close()
                if not problems or isinstance(error, BlockingIOError):
                    number = getattr(error, "errno", None) or errno.EINVAL
                problems.append(f"{path}: {getattr(error, 'strerror', None) or error}")
                if isinstance(error, BlockingIOError):
                    # A daemon runs, but too many clients wait for it.
                    break
        raise OSError(number, "; ".join(problems))

    def is_running(self) -> bool:
        try:
            self.connect().close()
        except OSError as error:
            return error.errno == errno.EAGAIN
        return True

    def start(self) -> Start | None:
        """Starts a daemon; None if there is no program."""
        path = program("cached")
        return Start(["/bin/sh", "-c", _SCRIPT, path, *self.options]) if path else None


def reason_in(text: str) -> str:
    """The reason among the lines of a program that failed: the one that says so, otherwise the last."""
    lines = text.strip().split("\n")
    marked = [line.partition(": ")[2] for line in lines if line.startswith(("cached: ", "cachectl: ", "Error: "))]
    return (marked or lines)[-1].strip()[:200]


class Start:
    """A program that ends when the daemon answers, or cannot be started."""

    #: Those that nobody waits for.
    _left: list[int] = []

    def __init__(self, words: list[str]):
        while Start._left and _exit_status(Start._left[0]) is not None:
            Start._left.pop(0)
        self._output, end = os.pipe()
        try:
            # posix_spawn(3): quick in a large process, and of any number of threads.
            self._process = os.posix_spawn(words[0], words, os.environ, setsid=True, file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_DUP2, end, 2)])
        except OSError:
            os.close(self._output)
            raise
        finally:
            os.close(end)
        self._has_ended = False
        # The pipe belongs to the daemon too if that keeps it.
        os.set_blocking(self._output, False)

    def poll(self) -> tuple[int, str] | None:
        """The exit status, and the reason on standard error; None while it runs."""
        status = _exit_status(self._process)
        if status is None:
            return None
        self._has_ended = True
        try:
            text = os.read(self._output, 1 << 16)
        except BlockingIOError:
            text = b""
        return status, reason_in(text.decode(errors="replace"))

    def kill(self) -> None:
        os.kill(self._process, 9)

    def leave(self) -> None:
        """Lets it go on: its daemon ends when nobody uses it."""
        os.close(self._output)
        if not self._has_ended:
            Start._left.append(self._process)


def _exit_status(process: int) -> int | None:
    """None while a child runs; 0 if another part of the program has waited for it. waitpid(2)."""
    try:
        found, status = os.waitpid(process, os.WNOHANG)
    except ChildProcessError:
        return 0
    return os.waitstatus_to_exitcode(status) if found else None


class Attempt:
    """A wait for a connection. It starts a daemon if there is none, once.

    Patience is for a daemon that is there: one that was connected before, that is starting, or whose socket exists.
    """

    def __init__(self, daemon: Daemon, was_connected: bool = False):
        now = time.monotonic()
        self._daemon = daemon
        self._pause = FIRST_PAUSE
        #: When `step()` has something to do, and when patience ends; on the monotonic clock.
        self.next = now + (FIRST_PAUSE if was_connected else 0)
        self.deadline = now + daemon.patience
        self._may_start, self._starts_at = daemon.starts, now + (_GRACE if was_connected else 0)
        self._start: Start | None = None
        self._is_patient = was_connected
        #: Why there is no daemon, and what to do.
        self._problem, self._remedy = "", "start cached"

    @property
    def is_starting(self) -> bool:
        return self._start is not None

    def step(self) -> sockets.socket | None:
        """The connection; None if there is none yet. CacheError `noDaemon` if there will be none."""
        now = time.monotonic()
        if now < self.next or self._is_still_starting(now):
            return None
        try:
            return self._daemon.connect()
        except OSError as error:
            problem = error
        is_silent = problem.errno in _SILENT
        if is_silent and self._may_start and now >= self._starts_at:
            self._may_start = False
            try:
                self._start = self._daemon.start()
                self._remedy = "there is no program cached, install it"
            except OSError as error:
                self._remedy = f"cached cannot be started: {error}"
            if self._start is not None:
                self.next = now + _LOOK
                return None
        self._problem = problem.strerror or str(problem)
        if now < self.deadline and (self._is_patient or self._may_start or problem.errno in _PASSING):
            self.next = now + self._pause
            self._pause = min(LONGEST_PAUSE, self._pause * 1.5)
            return None
        raise self.failure()

    def _is_still_starting(self, now: float) -> bool:
        if self._start is None:
            return False
        end = self._start.poll()
        if end is None and now < self.deadline:
            self.next = now + _LOOK
            return True
        if end is None:
            self._start.kill()
        self.close()
        status, reason = end or (None, "it takes too long")
        self._is_patient = status in (0, _HELD)
        if status == _HELD:
            self.deadline = min(self.deadline, now + _RACE)
        if status != 0:
            self._remedy = f"cached was started and failed: {reason or f'exit status {status}'}"
        if not self._is_patient:
            self.deadline = now
        return False

    def failure(self) -> CacheError:
        duration = f" for {self._daemon.patience:g} s" if self._is_patient else ""
        return CacheError("noDaemon", f"no daemon answered{duration} ({self._problem}); {self._remedy}")

    def go_on(self) -> None:
        """After a failure: a daemon that another program starts is found within a second."""
        self._is_patient, self._may_start = True, False
        self._pause, self.deadline = LONGEST_PAUSE, float("inf")
        self.next = time.monotonic() + LONGEST_PAUSE

    def close(self) -> None:
        if self._start is not None:
            self._start.leave()
            self._start = None
