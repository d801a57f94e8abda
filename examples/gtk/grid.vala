// A grid of images in Vala: all that a program writes.
int main (string[] args) {
    var app = new Gtk.Application (null, ApplicationFlags.NON_UNIQUE);
    app.activate.connect (() => {
        var factory = new Gtk.SignalListItemFactory ();
        factory.setup.connect (item =>
            ((Gtk.ListItem) item).child = new Cached.Picture (null) { width_request = 160, height_request = 120 });
        factory.bind.connect (item => {
            var cell = (Gtk.ListItem) item;
            ((Cached.Picture) cell.child).set_url (((Gtk.StringObject) cell.item).string);
        });
        factory.unbind.connect (item => ((Cached.Picture) ((Gtk.ListItem) item).child).set_url (null));
        var grid = new Gtk.GridView (new Gtk.SingleSelection (new Gtk.StringList (args[1:])), factory);
        var scrolled = new Gtk.ScrolledWindow () { child = grid };
        new Gtk.ApplicationWindow (app) { child = scrolled, default_width = 880, default_height = 600 }.present ();
    });
    return app.run ();
}
