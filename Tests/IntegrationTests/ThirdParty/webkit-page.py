"""A page of WebKitGTK that shows images by a scheme of the program: webkit-page.py REGISTER URL…

REGISTER is a file that defines register(context). Prints the width of each image as the page sees it; 0 if it is broken.
"""

import pathlib
import sys
from urllib.parse import quote

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import GLib, Gtk, WebKit2

scope = {}
exec(pathlib.Path(sys.argv[1]).read_text(), scope)
context = WebKit2.WebContext.new_ephemeral()
scope["register"](context)
view = WebKit2.WebView.new_with_context(context)
window = Gtk.OffscreenWindow()
window.add(view)
window.show_all()


def titled(view, _):
    if view.get_title().startswith("widths "):
        print(view.get_title(), flush=True)
        Gtk.main_quit()


urls = sys.argv[2:]
image = '<img onload="ended()" onerror="ended()" src="cached-image:///?url={}">'
view.connect("notify::title", titled)
view.load_html(f"""<script>
    let left = {len(urls)}
    function ended() {{
        if (--left === 0) document.title = 'widths ' + [...document.images].map((image) => image.naturalWidth).join(' ')
    }}
</script>""" + "".join(image.format(quote(url, safe="")) for url in urls), "https://example.com/")
GLib.timeout_add_seconds(60, Gtk.main_quit)
Gtk.main()
