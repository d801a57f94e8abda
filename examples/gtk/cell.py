"""One picture of the grid: a shimmer while nothing is known, a ring while it comes, then the picture."""

import math
from typing import Optional

import gi

gi.require_version("Gdk", "4.0")
gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Graphene, Gsk, Gtk, Pango  # noqa: E402

from libcached import FAILED, HERE, Image  # noqa: E402

WIDTH, HEIGHT = 160, 120
FADE = 0.2  # seconds in which a picture appears
SWEEP = 1.6  # seconds in which the shimmer crosses the window
TURN = 1.2  # seconds for a turn of the ring if the total is unknown


def _is_animated() -> bool:
    """Whether the person at the screen wants things to move."""
    return Gtk.Settings.get_default().props.gtk_enable_animations


def _color(text: str) -> Gdk.RGBA:
    color = Gdk.RGBA()
    color.parse(text)
    return color


def _stop(offset: float, color: Gdk.RGBA) -> Gsk.ColorStop:
    stop = Gsk.ColorStop()
    stop.offset, stop.color = offset, color
    return stop


# Half transparent, so that they suit light and dark themes.
EMPTY = _color("rgba(128,128,128,0.18)")
LIGHT = _color("rgba(255,255,255,0.6)")
DARK = _color("rgba(255,255,255,0)")
SHIMMER = [_stop(0, DARK), _stop(0.5, LIGHT), _stop(1, DARK)]
TRACK = (0.5, 0.5, 0.5, 0.3)
ARC = (0.21, 0.52, 0.89, 1)


class Cell(Gtk.Widget):
    """A widget that is used again and again for other images. `configure` is all it needs."""

    def __init__(self) -> None:
        super().__init__(halign=Gtk.Align.CENTER, valign=Gtk.Align.CENTER)
        self.set_overflow(Gtk.Overflow.HIDDEN)
        self.configure(Image(""), None)

    def configure(self, image: Image, texture: Optional[Gdk.Texture]) -> None:
        """Shows another image at once, as far as it has come."""
        self.image = image
        self.texture = texture
        self._has_arrived = False
        self._shown = image.fraction or 0.0
        self._fade_from: Optional[float] = None
        self.queue_draw()

    def update(self, image: Image) -> None:
        """Shows news of the same image. A picture stays, whatever becomes of a newer version."""
        self._has_arrived |= image.state == HERE and self.image.state != HERE
        self.image = image
        self.queue_draw()

    def appear(self, texture: Gdk.Texture) -> None:
        """Shows the picture. Over another state it fades in, so that nothing jumps."""
        if texture is not self.texture:
            fades = self.texture is None and self.get_mapped() and _is_animated()
            self._fade_from = self._now() if fades else None
            self.texture = texture
            self.queue_draw()

    @property
    def look(self) -> str:
        """The state that is drawn."""
        if self.texture is not None:
            return "picture"
        if self.image.state == FAILED:
            return "failed"
        if self.image.state == HERE:
            # About to be decoded: the ring stays, and a cell that comes back with it is calm.
            return "ring" if self._has_arrived else "empty"
        # An interrupted download has not lost the bytes that arrived.
        return "ring" if self.image.received > 0 else "shimmer"

    @property
    def moves(self) -> bool:
        """Whether the next frame will differ from this one without any news."""
        if self.texture is not None:
            return self._fade_from is not None
        return self.look in ("shimmer", "ring") and _is_animated()

    # Gtk.Widget

    def do_measure(self, orientation: Gtk.Orientation, for_size: int) -> tuple:
        size = WIDTH if orientation == Gtk.Orientation.HORIZONTAL else HEIGHT
        return size, size, -1, -1

    def do_snapshot(self, snapshot: Gtk.Snapshot) -> None:
        bounds = Graphene.Rect().init(0, 0, self.get_width(), self.get_height())
        opacity = self._opacity()
        if opacity < 1:
            snapshot.append_color(EMPTY, bounds)
        if self.texture is not None:
            snapshot.push_opacity(opacity)
            snapshot.append_texture(self.texture, self._covering(bounds))
            snapshot.pop()
        elif self.look == "shimmer":
            self._draw_shimmer(snapshot, bounds)
        elif self.look == "ring":
            self._draw_ring(snapshot, bounds)
        elif self.look == "failed":
            self._draw_reason(snapshot)

    def _opacity(self) -> float:
        if self.texture is None:
            return 0
        if self._fade_from is None:
            return 1
        opacity = min(max((self._now() - self._fade_from) / FADE, 0), 1)
        if opacity == 1:
            self._fade_from = None
        return opacity

    def _covering(self, bounds: Graphene.Rect) -> Graphene.Rect:
        """Where the picture fills the cell; the longer side is cut off."""
        width, height = self.texture.get_width(), self.texture.get_height()
        scale = max(bounds.get_width() / width, bounds.get_height() / height)
        width, height = width * scale, height * scale
        return Graphene.Rect().init(
            (bounds.get_width() - width) / 2, (bounds.get_height() - height) / 2, width, height
        )

    def _draw_shimmer(self, snapshot: Gtk.Snapshot, bounds: Graphene.Rect) -> None:
        """One light crosses the window. Each cell is a hole through which it is seen, so all have one phase."""
        window = self.get_root()
        x, y = self.translate_coordinates(window, 0, 0)
        reach = 0.4 * window.get_width()
        way = window.get_width() + window.get_height() / 2 + reach
        light = self._now() / SWEEP % 1 * way - reach
        # It leans: what is lower is lit later.
        start = light - x - y / 2
        snapshot.append_linear_gradient(
            bounds,
            Graphene.Point().init(start, 0),
            Graphene.Point().init(start + 0.8 * reach, 0.4 * reach),
            SHIMMER,
        )

    def _draw_ring(self, snapshot: Gtk.Snapshot, bounds: Graphene.Rect) -> None:
        context = snapshot.append_cairo(bounds)
        context.translate(bounds.get_width() / 2, bounds.get_height() / 2)
        context.set_line_width(4)
        context.set_source_rgba(*TRACK)
        context.arc(0, 0, 20, 0, 2 * math.pi)
        context.stroke()
        fraction = self.image.fraction
        if fraction is None:
            start, length = self._now() / TURN % 1, 0.3
        else:
            # News come some times a second. The ring follows them smoothly, and never runs ahead.
            self._shown += (fraction - self._shown) * (0.15 if _is_animated() else 1)
            start, length = 0, self._shown
        context.set_source_rgba(*ARC)
        context.rotate((start - 0.25) * 2 * math.pi)
        context.arc(0, 0, 20, 0, max(length, 0.01) * 2 * math.pi)
        context.stroke()

    def _draw_reason(self, snapshot: Gtk.Snapshot) -> None:
        layout = self.create_pango_layout(self.image.message)
        layout.set_width((self.get_width() - 16) * Pango.SCALE)
        layout.set_height((self.get_height() - 16) * Pango.SCALE)
        layout.set_ellipsize(Pango.EllipsizeMode.END)
        layout.set_wrap(Pango.WrapMode.WORD_CHAR)
        layout.set_alignment(Pango.Alignment.CENTER)
        snapshot.save()
        snapshot.translate(Graphene.Point().init(8, (self.get_height() - layout.get_pixel_size().height) / 2))
        snapshot.append_layout(layout, self.get_style_context().get_color())
        snapshot.restore()

    def _now(self) -> float:
        """Seconds, the same for all cells of a frame."""
        return self.get_frame_clock().get_frame_time() / 1e6


Cell.set_css_name("cell")
