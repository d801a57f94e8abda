#!/usr/bin/python3
"""Shows the gallery of examples/gtk, and does what standard input tells: gtk-driver.py DIRECTORY URL...

Each command is a line. The answer to the third one is the file `3.json` in the directory; once it is
written, the line `answer 3.` is printed.

    report              what the cells show, and how many frames there were
    scroll ROW          moves a row to the top, and answers with a report of the first frame
    screenshot FILE     saves the screen, and counts colours within each visible cell
    idle SECONDS        how many frames are drawn in this time
    activate NUMBER     does to an image what Return does, and answers with a report
    quit                no answer
"""

import json
import os
import subprocess
import sys
import traceback

import gi

gi.require_version("CachedGtk", "0")
gi.require_version("GdkPixbuf", "2.0")
gi.require_version("Gtk", "4.0")
from gi.repository import CachedGtk, GdkPixbuf, Gio, GLib, Gtk  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../examples/gtk"))
import gallery as application  # noqa: E402


COLUMNS = 5


def fatal(callback):
    """Ends the program if a callback fails. PyGObject would go on, and the test would wait for nothing."""

    def call(*arguments):
        try:
            return callback(*arguments)
        except Exception:
            traceback.print_exc()
            os._exit(1)

    return call


class Driver:
    def __init__(self, gallery, directory):
        self.gallery = gallery
        self.directory = directory
        self.answers = 0
        self.frames = 0
        self._answers_frame = False
        gallery.get_frame_clock().connect("after-paint", self._painted)
        GLib.io_add_watch(0, GLib.IOCondition.IN | GLib.IOCondition.HUP, self._read)

    @fatal
    def _painted(self, _):
        self.frames += 1
        if self._answers_frame:
            self._answers_frame = False
            self._answer(self.report())

    @fatal
    def _read(self, *_):
        words = sys.stdin.buffer.readline().decode().split() or ["quit"]
        answer = getattr(self, words[0])(*words[1:])
        if answer is not None:
            self._answer(answer)
        return GLib.SOURCE_CONTINUE

    def _answer(self, answer):
        self.answers += 1
        with open(f"{self.directory}/{self.answers}.json", "w") as file:
            json.dump(answer, file)
        print(f"answer {self.answers}.", flush=True)

    def report(self):
        cells = {}
        for url, (picture, _) in self._on_screen().items():
            paintable = picture.get_paintable()
            cells[url] = {
                "state": paintable.get_state().value_nick,
                "fraction": paintable.get_fraction(),
                "description": paintable.get_description(),
                "hasPicture": paintable.get_texture() is not None,
            }
        return {
            "onScreen": cells,
            "bound": list(self.gallery.pictures),
            "frames": self.frames,
            "memory": CachedGtk.get_memory_used(),
        }

    def scroll(self, row):
        position, rows = self.gallery.get_vadjustment(), len(self.gallery.selection) / COLUMNS
        position.set_value(int(row) * position.get_upper() / rows)
        # The answer is what the first frame at the new position shows.
        self._answers_frame = True
        self.gallery.queue_draw()

    def screenshot(self, file):
        subprocess.run(["import", "-window", "root", f"png:{file}"], check=True, timeout=20)
        pixbuf = GdkPixbuf.Pixbuf.new_from_file(file)
        return {url: count(pixbuf, area) for url, (_, area) in self._on_screen().items()}

    def activate(self, row):
        self.gallery.grid.emit("activate", int(row))
        return self.report()

    def idle(self, seconds):
        """Does nothing for a while, and answers how many frames were drawn in that time."""
        before = self.frames
        GLib.timeout_add(int(1000 * float(seconds)), lambda: self._answer({"frames": self.frames - before}))

    def quit(self):
        Gtk.Application.get_default().quit()

    def _on_screen(self):
        """The cells that are really on the screen, from the widgets themselves, each with its place."""
        window = self.gallery.get_root()
        page = self.gallery.compute_bounds(window)[1]
        found = {}
        for url, cell in self.gallery.pictures.items():
            known, bounds = cell.compute_bounds(window)
            if not known or not cell.get_mapped():
                continue
            shown, area = bounds.intersection(page)
            if shown and area.get_height() > 0:
                found[url] = (cell, area)
        return found


def count(pixbuf, area):
    """How many pixels of an area have the colour of the ring, and how many that of the test's pictures."""
    pixels, stride, channels = pixbuf.get_pixels(), pixbuf.get_rowstride(), pixbuf.get_n_channels()
    # The window lies in the corner of the screen.
    left, top = int(area.get_x()) + 8, int(area.get_y()) + 8
    right, bottom = left + int(area.get_width()) - 16, top + int(area.get_height()) - 16
    ring = picture = 0
    # Every third pixel is enough, and takes a ninth of the time.
    for y in range(max(top, 0), min(bottom, pixbuf.get_height()), 3):
        for x in range(left, min(right, pixbuf.get_width()), 3):
            red, green, blue = pixels[y * stride + x * channels : y * stride + x * channels + 3]
            ring += abs(red - 54) < 30 and abs(green - 133) < 30 and abs(blue - 227) < 30
            picture += red == green == blue == 90
    return {"ring": ring, "picture": picture}


def main():
    app = Gtk.Application(flags=Gio.ApplicationFlags.NON_UNIQUE)
    drivers = []

    def activate(_):
        drivers.append(Driver(application.show(app, sys.argv[2:]), sys.argv[1]))

    app.connect("activate", activate)
    return app.run([])


sys.exit(main())
