"""One line for each claim; the exit status says whether all hold."""

import atexit
import os
import sys
import time

import gi

gi.require_version("GdkPixbuf", "2.0")
from gi.repository import GdkPixbuf, GLib  # noqa: E402

from pictures import picture  # noqa: E402

_failures = []


def claim(text, holds, detail=""):
    print(f"{'ok' if holds else 'not ok'} - {text}" + (f" ({detail})" if detail else ""), flush=True)
    if not holds:
        _failures.append(text)


def is_picture(path, number):
    """Whether a file is the whole cover of a number, and the program's toolkit decodes it."""
    try:
        with open(path, "rb") as file:
            if file.read() != picture(number):
                return False
        shown = GdkPixbuf.Pixbuf.new_from_file(path)
    except (OSError, GLib.Error, TypeError):
        return False
    return (shown.get_width(), shown.get_height()) == (200 + number, 300 + number)


def timed(action, *arguments, **options):
    began = time.monotonic()
    return action(*arguments, **options), time.monotonic() - began


def end():
    sys.stdout.flush()
    if _failures:
        os._exit(1)


atexit.register(end)
