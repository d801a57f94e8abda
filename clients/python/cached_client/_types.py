"""The types of images, by their first bytes."""

from __future__ import annotations

import re

#: In the order of the numbers in a record: docs/lookup/disk-format.md.
NAMES = (None, "image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "image/heic", "image/jxl",
         "image/bmp", "image/tiff", "image/vnd.microsoft.icon", "image/svg+xml")
_STARTS = (
    (rb"\xff\xd8\xff", "image/jpeg"), (rb"\x89PNG\r\n\x1a\n", "image/png"), (rb"GIF8[79]a", "image/gif"),
    (rb"RIFF....WEBP", "image/webp"), (rb"....ftypavi[fs]", "image/avif"),
    (rb"....ftyp(hei[cxms]|hev[cxms]|mif1|msf1)", "image/heic"),
    (rb"\xff\x0a|\0\0\0\x0cJXL \r\n\x87\n", "image/jxl"), (rb"BM....\0\0\0\0", "image/bmp"),
    (rb"II\*\0|MM\0\*", "image/tiff"), (rb"\0\0\x01\0[^\0]", "image/vnd.microsoft.icon"))


def media_type(start: bytes) -> str | None:
    """The type of an image that begins with these bytes; None if it is none that the cache takes by default."""
    return next((name for pattern, name in _STARTS if re.match(pattern, start, re.DOTALL)), None)


def type_of_file(path: str) -> str | None:
    """The type of an image file. OSError if it cannot be read."""
    with open(path, "rb") as file:
        return media_type(file.read(32))
