#!/usr/bin/python3
"""A GTK 4 grid of images from the cache.

    gallery.py URL...      gallery.py - < FILE

The arrow keys move, Space and the mouse select, Ctrl+C copies the URLs of the selected images. Enter opens an image, or
asks again for one that failed; Escape closes it.
"""

import sys
import urllib.parse

import gi

gi.require_version("CachedGtk", "0")
gi.require_version("Gtk", "4.0")
from gi.repository import CachedGtk, Gio, Gtk  # noqa: E402

WIDTH, HEIGHT = 160, 120
SIZE = (880, 600)


class Gallery(Gtk.ScrolledWindow):
    """The grid. The library wants the images on the screen first."""

    def __init__(self, urls: list) -> None:
        super().__init__(hscrollbar_policy=Gtk.PolicyType.NEVER)
        self.pictures: dict = {}  # URL: the widget that shows it
        factory = Gtk.SignalListItemFactory()
        factory.connect("setup", self._setup)
        factory.connect("bind", self._bind)
        factory.connect("unbind", self._unbind)
        self.selection = Gtk.MultiSelection(model=Gtk.StringList.new(urls))
        self.grid = Gtk.GridView(
            model=self.selection, factory=factory, max_columns=12, enable_rubberband=True
        )
        self.grid.update_property([Gtk.AccessibleProperty.LABEL], ["Images"])
        self.grid.connect("activate", self._activate)
        _shortcut(self.grid, "<Control>c", self._copy)
        self.set_child(self.grid)

    def _setup(self, _: Gtk.SignalListItemFactory, item: Gtk.ListItem) -> None:
        item.set_child(CachedGtk.Picture(width_request=WIDTH, height_request=HEIGHT, radius=10))

    def _bind(self, _: Gtk.SignalListItemFactory, item: Gtk.ListItem) -> None:
        url, picture = item.get_item().get_string(), item.get_child()
        picture.set_url(url)
        self.pictures[url] = picture
        if Gtk.check_version(4, 12, 0) is None:
            item.set_accessible_label(_name(url))

    def _unbind(self, _: Gtk.SignalListItemFactory, item: Gtk.ListItem) -> None:
        picture = item.get_child()
        # Another widget may show this image already.
        if self.pictures.get(picture.get_url()) is picture:
            del self.pictures[picture.get_url()]
        picture.set_url(None)

    def _activate(self, _: Gtk.GridView, position: int) -> None:
        url = self.selection.get_item(position).get_string()
        paintable = self.pictures[url].get_paintable()
        if paintable.get_state() == CachedGtk.State.FAILED:
            paintable.retry()
        else:
            self._open(url)

    def _open(self, url: str) -> None:
        """Shows one image as large as the window. It is fetched in that size."""
        picture = CachedGtk.Picture(url=url, fit=CachedGtk.Fit.CONTAIN)
        window = Gtk.Window(title=_name(url), transient_for=self.get_root(), child=picture)
        window.set_default_size(*SIZE)
        _shortcut(window, "Escape", window.close)
        window.present()

    def _copy(self) -> None:
        chosen = (self.selection.get_item(i).get_string() for i in range(self.selection.get_n_items())
                  if self.selection.is_selected(i))  # fmt: skip
        self.get_clipboard().set("\n".join(chosen))


def _name(url: str) -> str:
    return urllib.parse.unquote(urllib.parse.urlsplit(url).path.rstrip("/").rpartition("/")[2])


def _shortcut(widget: Gtk.Widget, keys: str, action) -> None:
    def run(*_) -> bool:
        action()
        return True

    controller = Gtk.ShortcutController()
    trigger = Gtk.ShortcutTrigger.parse_string(keys)
    controller.add_shortcut(Gtk.Shortcut(trigger=trigger, action=Gtk.CallbackAction.new(run)))
    widget.add_controller(controller)


def show(app: Gtk.Application, urls: list) -> Gallery:
    """Opens the window."""
    gallery = Gallery(urls)
    window = Gtk.ApplicationWindow(application=app, title="cached", child=gallery)
    window.set_default_size(*SIZE)
    window.present()
    return gallery


def main() -> int:
    urls = sys.stdin.read().split() if sys.argv[1:] == ["-"] else sys.argv[1:]
    if not urls:
        print(__doc__.strip(), file=sys.stderr)
        return 64
    app = Gtk.Application(flags=Gio.ApplicationFlags.NON_UNIQUE)
    app.connect("activate", lambda _: show(app, urls))
    return app.run([])


if __name__ == "__main__":
    sys.exit(main())
