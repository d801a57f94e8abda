"""The images that every downloader fetches: the same bytes on every machine."""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path

# Width and height in pixels of 24-bit noise, which does not compress.
MEDIUM = (85, 86)  # 22 kB
SMALL = (25, 25)  # 2 kB
LARGE = (1290, 1292)  # 5 MB


class Origin:
    """A directory of valid, distinct PNG files, and their URLs below `base`."""

    def __init__(self, directory: Path, count: int, size: tuple[int, int]) -> None:
        self.directory = directory
        self.names = [f"{number:06}.png" for number in range(count)]
        self.bytes = 0
        directory.mkdir()
        for number, name in enumerate(self.names):
            self.bytes += (directory / name).write_bytes(png(number, *size))

    def urls(self, base: str) -> list[str]:
        return [f"{base}/{self.directory.name}/{name}" for name in self.names]


def png(seed: int, width: int, height: int) -> bytes:
    """A PNG of noise generated from `seed` (PNG specification, sections 5 and 11)."""
    noise = random.Random(seed)
    rows = b"".join(b"\0" + noise.randbytes(width * 3) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b""))


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
