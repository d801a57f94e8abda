#!/usr/bin/python3
"""A GTK 4 grid of images from the cache.

    gallery.py URL...      gallery.py - < FILE
"""

import math
import sys
from typing import Union

import gi

gi.require_version("Gdk", "4.0")
gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Gio, GLib, Gtk  # noqa: E402

from cell import HEIGHT, WIDTH, Cell  # noqa: E402
from libcached import BACKGROUND, FAILED, HERE, IN_FLIGHT, VISIBLE, Cache, Image  # noqa: E402
from textures import Textures  # noqa: E402

GAP = 8
ROWS_AHEAD = 2
MOST_COLUMNS = 12
SIZE = (880, 600)

# Fixed margins, so that a position gives the row.
STYLE = f"""
gridview {{ background: none; }}
gridview > child {{ padding: {GAP // 2}px; background: none; }}
cell {{ border-radius: 10px; }}
"""


class Gallery(Gtk.ScrolledWindow):
    """The grid. It wants the images on the screen, less urgently those of the rows ahead, and no others."""

    def __init__(self, urls: list, scale: int = 1) -> None:
        super().__init__(hscrollbar_policy=Gtk.PolicyType.NEVER)
        self.urls = urls
        self.cache = Cache()
        self.textures = Textures(side=scale * max(WIDTH, HEIGHT))
        self.wanted: dict = {}  # URL: priority
        self.visible: list = []  # the URLs on the screen
        self.cells: dict = {}  # URL: the cell that shows it
        self._news: dict = {}  # URL: the last news
        self._tick = 0
        self._pressure = None

        factory = Gtk.SignalListItemFactory()
        factory.connect("setup", lambda _, item: item.set_child(Cell()))
        factory.connect("bind", self._bind)
        factory.connect("unbind", self._unbind)
        model = Gtk.NoSelection(model=Gtk.StringList.new(urls))
        self.grid = Gtk.GridView(model=model, factory=factory, max_columns=MOST_COLUMNS)
        self.set_child(self.grid)
        for signal in ("value-changed", "changed"):
            self.get_vadjustment().connect(signal, lambda _: self._want())
        GLib.unix_fd_add_full(
            GLib.PRIORITY_DEFAULT, self.cache.fd, GLib.IOCondition.IN, lambda *_: self._take_news()
        )
        self._take_news()

    # The grid uses a cell for one image after another.

    def _bind(self, _: Gtk.SignalListItemFactory, item: Gtk.ListItem) -> None:
        url, cell = item.get_item().get_string(), item.get_child()
        self.cells[url] = cell
        image = self._known(url)
        cell.configure(image, self.textures.get(image.path) if image.state == HERE else None)
        if url in self.wanted:
            self._show(image)

    def _unbind(self, _: Gtk.SignalListItemFactory, item: Gtk.ListItem) -> None:
        url = item.get_item().get_string()
        # Another cell may show this image already.
        if self.cells.get(url) is item.get_child():
            del self.cells[url]

    # What is wanted follows the position.

    def _want(self) -> None:
        """Wants what is on the screen now. Downloads that are no longer wanted stop."""
        self.visible = self._rows(ahead=0)
        wanted = dict.fromkeys(self.visible, VISIBLE)
        for url in self._rows(ahead=ROWS_AHEAD):
            wanted.setdefault(url, BACKGROUND)
        if wanted != self.wanted:
            new = wanted.keys() - self.wanted.keys()
            self.wanted = wanted
            # A failure is worth remembering: the directory does not have it.
            self._news = {
                url: image for url, image in self._news.items() if url in wanted or image.state == FAILED
            }
            self.cache.want(wanted)
            known = {url: self._known(url) for url in wanted}
            self.textures.cancel_all_but({image.path for image in known.values()})
            for url in new:
                self._show(known[url])
        self._animate()

    def _rows(self, ahead: int) -> list:
        """The URLs of the rows on the screen, and of some before and after them."""
        position = self.get_vadjustment()
        height, columns = HEIGHT + GAP, self.grid.get_width() // (WIDTH + GAP)
        columns = min(max(columns, 1), MOST_COLUMNS)
        top, page = position.get_value(), position.get_page_size()
        first = max(int(top // height) - ahead, 0)
        last = math.ceil((top + page) / height) + ahead if page > 0 else first
        return self.urls[first * columns : last * columns]

    # News, pictures and movement.

    def _known(self, url: str) -> Image:
        """What is known without waiting, from the directory or from the last news."""
        found = self.cache.peek(url)
        news = self._news.get(url, found)
        # A file that is here counts more than a failure to renew it. A download that still waits for
        # its turn reports no bytes, although some may have arrived before it was interrupted.
        is_older = news.state == IN_FLIGHT and news.received == 0
        return found if found.state == HERE or is_older else news

    def _take_news(self) -> bool:
        for image in self.cache.news():
            self._news[image.url] = image
            if image.state == HERE:
                # From now on the directory knows better: the file can be evicted.
                del self._news[image.url]
            self._show(self._known(image.url))
        if self.cache.pressure != self._pressure:
            self._pressure = self.cache.pressure
            self.textures.relieve(self._pressure)
        self._animate()
        return GLib.SOURCE_CONTINUE

    def _show(self, image: Image) -> None:
        if cell := self.cells.get(image.url):
            cell.update(image)
        if image.state == HERE:
            if texture := self.textures.get(image.path):
                self._decoded(image.url, texture)
            else:
                self.textures.load(image.path, lambda result: self._decoded(image.url, result))

    def _decoded(self, url: str, result: Union[Gdk.Texture, str]) -> None:
        cell = self.cells.get(url)
        if cell is None:
            return
        if isinstance(result, Gdk.Texture):
            cell.appear(result)
        elif self._known(url).state == HERE:
            cell.update(Image(url, FAILED, message=result))
        elif self.wanted.pop(url, None) is not None:
            # Evicted before it was decoded. The cache gets it anew if it is wanted anew.
            self.cache.want(self.wanted)
            self._want()
        self._animate()

    def _animate(self) -> None:
        """Asks for frames while something on the screen moves, and for none at other times."""
        if self._tick == 0 and self._moving():
            self._tick = self.add_tick_callback(lambda *_: self._draw_moving())

    def _draw_moving(self) -> bool:
        moving = self._moving()
        for cell in moving:
            cell.queue_draw()
        if moving:
            return GLib.SOURCE_CONTINUE
        self._tick = 0
        return GLib.SOURCE_REMOVE

    def _moving(self) -> list:
        return [cell for url in self.visible if (cell := self.cells.get(url)) and cell.moves]


def show(app: Gtk.Application, urls: list) -> Gallery:
    """Opens the window."""
    display = Gdk.Display.get_default()
    style = Gtk.CssProvider()
    style.load_from_data(STYLE.encode())
    Gtk.StyleContext.add_provider_for_display(
        display, style, Gtk.STYLE_PROVIDER_PRIORITY_APPLICATION
    )
    # Pictures have to be sharp on the finest of the screens.
    gallery = Gallery(urls, max(monitor.get_scale_factor() for monitor in display.get_monitors()))
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
