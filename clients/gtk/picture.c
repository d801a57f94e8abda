#include "images.h"

/**
 * CachedPicture:
 *
 * A widget that shows a [class@Paintable]: a URL, how it fits, and round corners.
 *
 * In a list, set [property@Picture:url] when a row is bound, and to %NULL when it is unbound. Give it a size by
 * [property@Gtk.Widget:width-request] and [property@Gtk.Widget:height-request], or let it expand. It is never smaller than
 * that; its natural size is that of the image.
 *
 * It is an image for assistive technologies. Its name is [property@Picture:alternative-text], or the name of the file;
 * a failure is told as its description, and as a tooltip.
 */
struct _CachedPicture {
    GtkWidget parent;
    CachedPaintable *paintable; /* NULL without a URL. */
    CachedFit fit;
    int radius;
    gboolean enlarge;
    char *alternative_text;
};

enum { URL = 1, PAINTABLE, FIT, RADIUS, ENLARGE, ALTERNATIVE_TEXT, LAST };
static GParamSpec *properties[LAST];

G_DEFINE_FINAL_TYPE(CachedPicture, cached_picture, GTK_TYPE_WIDGET)
G_DEFINE_ENUM_TYPE(CachedFit, cached_fit, G_DEFINE_ENUM_VALUE(CACHED_FIT_COVER, "cover"),
                   G_DEFINE_ENUM_VALUE(CACHED_FIT_CONTAIN, "contain"), G_DEFINE_ENUM_VALUE(CACHED_FIT_FILL, "fill"))

/* MARK: The paintable */

static void tell(CachedPicture *self) {
    GtkAccessible *accessible = GTK_ACCESSIBLE(self);
    g_autofree char *description = self->paintable ? cached_paintable_get_description(self->paintable) : g_strdup("");
    const GError *error = self->paintable ? cached_paintable_get_error(self->paintable) : NULL;
    gboolean is_busy = self->paintable && paintable_is_coming(self->paintable);
    gtk_accessible_update_property(accessible, GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   self->alternative_text ? self->alternative_text : description,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, error ? error->message : is_busy ? "loading" : "", -1);
    gtk_accessible_update_state(accessible, GTK_ACCESSIBLE_STATE_BUSY, is_busy, -1);
    gtk_widget_set_has_tooltip(GTK_WIDGET(self), error != NULL);
}

static gboolean picture_tooltip(GtkWidget *widget, int x, int y, gboolean by_keyboard, GtkTooltip *tooltip) {
    (void)x, (void)y, (void)by_keyboard;
    CachedPicture *self = CACHED_PICTURE(widget);
    const GError *error = self->paintable ? cached_paintable_get_error(self->paintable) : NULL;
    if (error) gtk_tooltip_set_text(tooltip, error->message);
    return error != NULL;
}

/* Takes the reference. */
static void show(CachedPicture *self, CachedPaintable *paintable) {
    if (self->paintable) {
        g_signal_handlers_disconnect_by_data(self->paintable, self);
        g_object_unref(self->paintable);
    }
    self->paintable = paintable;
    if (paintable) {
        cached_paintable_set_scale(paintable, gtk_widget_get_scale_factor(GTK_WIDGET(self)));
        g_signal_connect_swapped(paintable, "invalidate-contents", G_CALLBACK(gtk_widget_queue_draw), self);
        g_signal_connect_swapped(paintable, "invalidate-size", G_CALLBACK(gtk_widget_queue_resize), self);
        g_signal_connect_swapped(paintable, "notify::description", G_CALLBACK(tell), self);
    }
}

static void scale_changed(CachedPicture *self) {
    if (self->paintable) cached_paintable_set_scale(self->paintable, gtk_widget_get_scale_factor(GTK_WIDGET(self)));
}

/* MARK: The widget */

static GtkSizeRequestMode picture_mode(GtkWidget *widget) {
    (void)widget;
    return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void picture_measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural,
                            int *minimum_baseline, int *natural_baseline) {
    (void)minimum_baseline, (void)natural_baseline;
    CachedPicture *self = CACHED_PICTURE(widget);
    *minimum = *natural = 0;
    if (!self->paintable) return;
    GdkPaintable *paintable = GDK_PAINTABLE(self->paintable);
    int width = gdk_paintable_get_intrinsic_width(paintable), height = gdk_paintable_get_intrinsic_height(paintable);
    if (width <= 0 || height <= 0) width = 160, height = 120; /* Something is to be seen until it is known. */
    gboolean is_wide = orientation == GTK_ORIENTATION_HORIZONTAL;
    int own = is_wide ? width : height, other = is_wide ? height : width;
    if (for_size < 0 || (for_size > other && !self->enlarge)) *natural = own;
    else *natural = MAX(1, (int)((double)own * for_size / other + .5));
}

/* Where the picture lies. What is cut off lies outside of the widget. */
static graphene_rect_t place(CachedPicture *self, double width, double height) {
    GdkPaintable *paintable = GDK_PAINTABLE(self->paintable);
    double own_width = gdk_paintable_get_intrinsic_width(paintable);
    double own_height = gdk_paintable_get_intrinsic_height(paintable);
    if (own_width <= 0 || own_height <= 0) own_width = width, own_height = height;
    double x = width / own_width, y = height / own_height;
    if (self->fit == CACHED_FIT_COVER) x = y = MAX(x, y);
    else if (self->fit == CACHED_FIT_CONTAIN) x = y = MIN(x, y);
    if (!self->enlarge) x = MIN(x, 1), y = MIN(y, 1);
    x *= own_width, y *= own_height;
    return GRAPHENE_RECT_INIT((width - x) / 2, (height - y) / 2, x, y);
}

static void picture_snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
    CachedPicture *self = CACHED_PICTURE(widget);
    double width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
    if (!self->paintable || width <= 0 || height <= 0) return;
    graphene_rect_t area = GRAPHENE_RECT_INIT(0, 0, width, height), picture = place(self, width, height);
    GtkWidget *root = GTK_WIDGET(gtk_widget_get_root(widget));
    graphene_point_t point = {0, 0};
    if (!root || !gtk_widget_compute_point(widget, root, &GRAPHENE_POINT_INIT(0, 0), &point)) root = widget;
    if (self->radius > 0) {
        GskRoundedRect corners;
        gsk_rounded_rect_init_from_rect(&corners, &area, MIN(self->radius, MIN(width, height) / 2));
        gtk_snapshot_push_rounded_clip(snapshot, &corners);
    } else {
        gtk_snapshot_push_clip(snapshot, &area);
    }
    paintable_draw(self->paintable, snapshot, &area, &picture, point.x, point.y, gtk_widget_get_width(root));
    gtk_snapshot_pop(snapshot);
}

/* MARK: The object */

/**
 * cached_picture_new:
 * @url: (nullable): the URL of an image
 *
 * Returns: a new widget
 */
GtkWidget *cached_picture_new(const char *url) { return g_object_new(CACHED_TYPE_PICTURE, "url", url, NULL); }

/**
 * cached_picture_get_url: (get-property url)
 * @self: a picture
 *
 * Returns: (nullable): the URL of the image
 */
const char *cached_picture_get_url(CachedPicture *self) {
    g_return_val_if_fail(CACHED_IS_PICTURE(self), NULL);
    return self->paintable ? cached_paintable_get_url(self->paintable) : NULL;
}

/**
 * cached_picture_set_url: (set-property url)
 * @self: a picture
 * @url: (nullable): the URL of an image; %NULL: none
 *
 * Shows another image. What was decoded shows at once.
 */
void cached_picture_set_url(CachedPicture *self, const char *url) {
    g_return_if_fail(CACHED_IS_PICTURE(self));
    if (g_strcmp0(url, cached_picture_get_url(self)) == 0) return;
    g_autoptr(CachedPaintable) paintable = url ? cached_paintable_new(url) : NULL;
    cached_picture_set_paintable(self, paintable);
}

/**
 * cached_picture_get_paintable: (get-property paintable)
 * @self: a picture
 *
 * Returns: (nullable) (transfer none): what is shown, with its state and error; another one for each URL
 */
CachedPaintable *cached_picture_get_paintable(CachedPicture *self) {
    g_return_val_if_fail(CACHED_IS_PICTURE(self), NULL);
    return self->paintable;
}

/**
 * cached_picture_set_paintable: (set-property paintable)
 * @self: a picture
 * @paintable: (nullable): what is shown; %NULL: nothing
 *
 * Shows a paintable that the program has made, for example one with [property@Paintable:headers].
 */
void cached_picture_set_paintable(CachedPicture *self, CachedPaintable *paintable) {
    g_return_if_fail(CACHED_IS_PICTURE(self) && (!paintable || CACHED_IS_PAINTABLE(paintable)));
    if (paintable == self->paintable) return;
    show(self, paintable ? g_object_ref(paintable) : NULL);
    tell(self);
    gtk_widget_queue_resize(GTK_WIDGET(self));
    g_object_notify_by_pspec(G_OBJECT(self), properties[URL]);
    g_object_notify_by_pspec(G_OBJECT(self), properties[PAINTABLE]);
}

/**
 * cached_picture_get_fit: (get-property fit)
 * @self: a picture
 *
 * Returns: how the image fits
 */
CachedFit cached_picture_get_fit(CachedPicture *self) {
    g_return_val_if_fail(CACHED_IS_PICTURE(self), CACHED_FIT_COVER);
    return self->fit;
}

/**
 * cached_picture_set_fit: (set-property fit)
 * @self: a picture
 * @fit: how the image fits
 *
 * Chooses whether the image fills the widget, and what is cut off.
 */
void cached_picture_set_fit(CachedPicture *self, CachedFit fit) {
    g_return_if_fail(CACHED_IS_PICTURE(self));
    if (fit == self->fit) return;
    self->fit = fit;
    gtk_widget_queue_draw(GTK_WIDGET(self));
    g_object_notify_by_pspec(G_OBJECT(self), properties[FIT]);
}

/**
 * cached_picture_get_radius: (get-property radius)
 * @self: a picture
 *
 * Returns: the radius of the corners
 */
int cached_picture_get_radius(CachedPicture *self) {
    g_return_val_if_fail(CACHED_IS_PICTURE(self), 0);
    return self->radius;
}

/**
 * cached_picture_set_radius: (set-property radius)
 * @self: a picture
 * @radius: the radius of the corners, in pixels of the application
 *
 * Rounds the corners.
 */
void cached_picture_set_radius(CachedPicture *self, int radius) {
    g_return_if_fail(CACHED_IS_PICTURE(self) && radius >= 0);
    if (radius == self->radius) return;
    self->radius = radius;
    gtk_widget_queue_draw(GTK_WIDGET(self));
    g_object_notify_by_pspec(G_OBJECT(self), properties[RADIUS]);
}

/**
 * cached_picture_get_enlarge: (get-property enlarge)
 * @self: a picture
 *
 * Returns: whether small images are enlarged
 */
gboolean cached_picture_get_enlarge(CachedPicture *self) {
    g_return_val_if_fail(CACHED_IS_PICTURE(self), FALSE);
    return self->enlarge;
}

/**
 * cached_picture_set_enlarge: (set-property enlarge)
 * @self: a picture
 * @enlarge: whether small images are enlarged
 *
 * Lets an image be larger than it is. If it is not enlarged, it lies in the middle.
 */
void cached_picture_set_enlarge(CachedPicture *self, gboolean enlarge) {
    g_return_if_fail(CACHED_IS_PICTURE(self));
    enlarge = !!enlarge;
    if (enlarge == self->enlarge) return;
    self->enlarge = enlarge;
    gtk_widget_queue_resize(GTK_WIDGET(self));
    g_object_notify_by_pspec(G_OBJECT(self), properties[ENLARGE]);
}

/**
 * cached_picture_get_alternative_text: (get-property alternative-text)
 * @self: a picture
 *
 * Returns: (nullable): the image in words
 */
const char *cached_picture_get_alternative_text(CachedPicture *self) {
    g_return_val_if_fail(CACHED_IS_PICTURE(self), NULL);
    return self->alternative_text;
}

/**
 * cached_picture_set_alternative_text: (set-property alternative-text)
 * @self: a picture
 * @text: (nullable): the image in words; %NULL: the name of its file
 *
 * Says what the image shows, for people who do not see it.
 */
void cached_picture_set_alternative_text(CachedPicture *self, const char *text) {
    g_return_if_fail(CACHED_IS_PICTURE(self));
    if (g_strcmp0(text, self->alternative_text) == 0) return;
    g_free(self->alternative_text);
    self->alternative_text = g_strdup(text);
    tell(self);
    g_object_notify_by_pspec(G_OBJECT(self), properties[ALTERNATIVE_TEXT]);
}

static void picture_dispose(GObject *object) {
    show(CACHED_PICTURE(object), NULL);
    G_OBJECT_CLASS(cached_picture_parent_class)->dispose(object);
}

static void picture_finalize(GObject *object) {
    g_free(CACHED_PICTURE(object)->alternative_text);
    G_OBJECT_CLASS(cached_picture_parent_class)->finalize(object);
}

static void picture_get(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    CachedPicture *self = CACHED_PICTURE(object);
    switch (id) {
    case URL: g_value_set_string(value, cached_picture_get_url(self)); break;
    case PAINTABLE: g_value_set_object(value, self->paintable); break;
    case FIT: g_value_set_enum(value, self->fit); break;
    case RADIUS: g_value_set_int(value, self->radius); break;
    case ENLARGE: g_value_set_boolean(value, self->enlarge); break;
    case ALTERNATIVE_TEXT: g_value_set_string(value, self->alternative_text); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static void picture_set(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    CachedPicture *self = CACHED_PICTURE(object);
    switch (id) {
    case URL: cached_picture_set_url(self, g_value_get_string(value)); break;
    case PAINTABLE: cached_picture_set_paintable(self, g_value_get_object(value)); break;
    case FIT: cached_picture_set_fit(self, g_value_get_enum(value)); break;
    case RADIUS: cached_picture_set_radius(self, g_value_get_int(value)); break;
    case ENLARGE: cached_picture_set_enlarge(self, g_value_get_boolean(value)); break;
    case ALTERNATIVE_TEXT: cached_picture_set_alternative_text(self, g_value_get_string(value)); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static void cached_picture_init(CachedPicture *self) {
    self->fit = CACHED_FIT_COVER;
    gtk_widget_set_overflow(GTK_WIDGET(self), GTK_OVERFLOW_HIDDEN);
    g_signal_connect(self, "notify::scale-factor", G_CALLBACK(scale_changed), NULL);
}

static void cached_picture_class_init(CachedPictureClass *class) {
    GObjectClass *object = G_OBJECT_CLASS(class);
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    object->dispose = picture_dispose, object->finalize = picture_finalize;
    object->get_property = picture_get, object->set_property = picture_set;
    widget->get_request_mode = picture_mode, widget->measure = picture_measure;
    widget->snapshot = picture_snapshot, widget->query_tooltip = picture_tooltip;
    const int both = G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;
    /**
     * CachedPicture:url: (getter get_url) (setter set_url)
     *
     * The URL of the image; %NULL: none.
     */
    properties[URL] = g_param_spec_string("url", NULL, NULL, NULL, both);
    /**
     * CachedPicture:paintable: (getter get_paintable) (setter set_paintable)
     *
     * What is shown, with its state and error.
     */
    properties[PAINTABLE] = g_param_spec_object("paintable", NULL, NULL, CACHED_TYPE_PAINTABLE, both);
    /**
     * CachedPicture:fit: (getter get_fit) (setter set_fit)
     *
     * How the image fits into the widget.
     */
    properties[FIT] = g_param_spec_enum("fit", NULL, NULL, CACHED_TYPE_FIT, CACHED_FIT_COVER, both);
    /**
     * CachedPicture:radius: (getter get_radius) (setter set_radius)
     *
     * The radius of the corners, in pixels of the application.
     */
    properties[RADIUS] = g_param_spec_int("radius", NULL, NULL, 0, G_MAXINT, 0, both);
    /**
     * CachedPicture:enlarge: (getter get_enlarge) (setter set_enlarge)
     *
     * Whether an image that is smaller than the widget is enlarged.
     */
    properties[ENLARGE] = g_param_spec_boolean("enlarge", NULL, NULL, FALSE, both);
    /**
     * CachedPicture:alternative-text: (getter get_alternative_text) (setter set_alternative_text)
     *
     * The image in words; %NULL: the name of its file.
     */
    properties[ALTERNATIVE_TEXT] = g_param_spec_string("alternative-text", NULL, NULL, NULL, both);
    g_object_class_install_properties(object, LAST, properties);
    gtk_widget_class_set_css_name(widget, "picture");
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_IMG);
}
