// A grid of images in JavaScript, for gjs: all that a program writes.
imports.gi.versions.Gtk = '4.0'
const { CachedGtk, Gio, Gtk } = imports.gi

const app = new Gtk.Application({ flags: Gio.ApplicationFlags.NON_UNIQUE })
app.connect('activate', () => {
  const factory = new Gtk.SignalListItemFactory()
  const picture = () => new CachedGtk.Picture({ width_request: 160, height_request: 120 })
  factory.connect('setup', (_, item) => item.set_child(picture()))
  factory.connect('bind', (_, item) => item.child.set_url(item.item.string))
  factory.connect('unbind', (_, item) => item.child.set_url(null))
  const model = new Gtk.SingleSelection({ model: Gtk.StringList.new(ARGV) })
  const child = new Gtk.ScrolledWindow({ child: new Gtk.GridView({ model, factory }) })
  new Gtk.ApplicationWindow({ application: app, child, default_width: 880, default_height: 600 }).present()
})
app.run([])
