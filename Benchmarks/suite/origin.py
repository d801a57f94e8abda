"""The images that every downloader fetches: the same bytes on every machine."""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path

# 85 x 86 pixels of 24-bit noise, which does not compress: 22 kB per file.
WIDTH, HEIGHT = 85, 86


class Origin:
    """A directory of valid, distinct PNG files, and their URLs below `base`."""

    def __init__(self, directory: Path, count: int) -> None:
        self.directory = directory
        self.names = [f"{number:06}.png" for number in range(count)]
        self.bytes = 0
        directory.mkdir()
        for number, name in enumerate(self.names):
            self.bytes += (directory / name).write_bytes(png(number))

    def urls(self, base: str) -> list[str]:
        return [f"{base}/images/{name}" for name in self.names]


def png(seed: int) -> bytes:
    """A PNG of noise generated from `seed` (PNG specification, sections 5 and 11)."""
    noise = random.Random(seed)
    rows = b"".join(b"\0" + noise.randbytes(WIDTH * 3) for _ in range(HEIGHT))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b""))


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
