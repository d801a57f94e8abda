# A grid of images in Python: all that a program writes.
import sys
import gi
gi.require_version("CachedGtk", "0")
from gi.repository import CachedGtk, Gio, Gtk

def activate(app):
    factory = Gtk.SignalListItemFactory()
    picture = lambda: CachedGtk.Picture(width_request=160, height_request=120)
    factory.connect("setup", lambda _, item: item.set_child(picture()))
    factory.connect("bind", lambda _, item: item.get_child().set_url(item.get_item().get_string()))
    factory.connect("unbind", lambda _, item: item.get_child().set_url(None))
    grid = Gtk.GridView(model=Gtk.SingleSelection(model=Gtk.StringList.new(sys.argv[1:])), factory=factory)
    scrolled = Gtk.ScrolledWindow(child=grid)
    Gtk.ApplicationWindow(application=app, child=scrolled, default_width=880, default_height=600).present()

app = Gtk.Application(flags=Gio.ApplicationFlags.NON_UNIQUE)
app.connect("activate", activate)
app.run()
