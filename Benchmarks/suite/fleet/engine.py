"""The object store of the fleet: SeaweedFS on loopback."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

from ..session import Session, Unavailable

ROOT = Path(__file__).resolve().parents[3]


class Engine:
    def __init__(self, session: Session, weed: Path) -> None:
        if not weed.exists():
            raise Unavailable("SeaweedFS is not installed; .ci/python-clients .build-python does that")
        script = ROOT / "Tests/Engines/seaweedfs"
        environment = {
            **os.environ, "WEED": str(weed), "BASE_PORT": str(10_000 + 200 * random.randrange(100))}
        log = (session.directory / "store.log").open("ab")
        child = subprocess.Popen(
            [str(script), str(session.directory / "store")], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        session.children.append(child)
        line = child.stdout.readline().split()
        if len(line) != 2 or line[0] != "ready":
            raise Unavailable(f"the store does not start; see {log.name}")
        self.endpoint = line[1]

    def environment(self, prefix: str) -> dict[str, str]:
        """That of a daemon which uses the store. The names of the keys are those of the script."""
        return {
            "CACHED_STORE": f"s3://images/{prefix}", "CACHED_STORE_ENDPOINT": self.endpoint,
            "CACHED_STORE_PRIVATE": "yes",
            "AWS_ACCESS_KEY_ID": "cachedtest", "AWS_SECRET_ACCESS_KEY": "cached/test+secret=0"}
