"""One run's temporary directory and the servers it started; both are removed with the run."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable


class Unavailable(Exception):
    """A measurement is not possible here; the table shows the reason."""


def progress(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def find(program: str) -> str | None:
    """Looks for servers in sbin too, which is often only in the superuser's PATH."""
    return shutil.which(program, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin")


def require(program: str) -> str:
    """The path of an installed program."""
    path = find(program)
    if path is None:
        raise Unavailable(f"{program} is not installed")
    return path


class Session:
    """Owns `directory` and every server started in it; leaving the context stops them all."""

    def __init__(self, parent: Path) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="cached-bench-", dir=parent))
        self.elsewhere: list[Path] = []
        self.children: list[subprocess.Popen] = []

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        for child in reversed(self.children):
            self._end(child)
        for directory in [self.directory, *self.elsewhere]:
            shutil.rmtree(directory, ignore_errors=True)

    def directory_on(self, parent: Path) -> Path:
        """A directory on another file system, which is removed with the session too."""
        directory = Path(tempfile.mkdtemp(prefix="cached-bench-", dir=parent))
        self.elsewhere.append(directory)
        return directory

    def start(
        self, name: str, command: list[str], ready: Callable[[], bool], env: dict | None = None
    ) -> subprocess.Popen:
        """Starts a server and waits until `ready`, at most a minute."""
        log = self.directory / f"{name}.log"
        with log.open("ab") as output:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                cwd=self.directory, env=env)
        self.children.append(child)
        deadline = time.monotonic() + 60
        while not ready():
            if child.poll() is not None:
                raise Unavailable(f"{name} ended with status {child.returncode}{last_line(log)}")
            if time.monotonic() > deadline:
                self.stop(child)
                raise Unavailable(f"{name} is not ready after a minute")
            time.sleep(0.01)
        return child

    def stop(self, child: subprocess.Popen) -> None:
        self._end(child)
        self.children.remove(child)

    @staticmethod
    def _end(child: subprocess.Popen) -> None:
        child.terminate()
        try:
            child.wait(timeout=30)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    return f": {lines[-1]}" if lines else ""


def accepts(family: int, address: object) -> bool:
    """Whether a server listens at this address."""
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(address) == 0


def accepts_unix(path: Path) -> bool:
    return path.exists() and accepts(socket.AF_UNIX, str(path))


def accepts_tcp(port: int) -> bool:
    return accepts(socket.AF_INET, ("127.0.0.1", port))


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
