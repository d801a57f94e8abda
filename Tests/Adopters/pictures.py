"""The covers of the origin: the same number is the same picture everywhere."""

import io
import random

from PIL import Image


def picture(number, kind="JPEG"):
    """The bytes of a cover of some 30 kB: 200 × 300 and `number` pixels wide and high."""
    size = (200 + number, 300 + number)
    noise = random.Random(number).randbytes(3 * 50 * 75)
    output = io.BytesIO()
    Image.frombytes("RGB", (50, 75), noise).resize(size).save(output, kind, quality=90)
    return output.getvalue()
