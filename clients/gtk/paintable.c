#include "images.h"

#include <math.h>

/**
 * CachedPaintable:
 *
 * A picture of the image cache by its URL.
 *
 * It works wherever GTK takes a [iface@Gdk.Paintable]. While the image is coming its place shimmers, a ring shows how far
 * it is, and the picture fades in. If the image fails, a sign of that is drawn, and [property@Paintable:error] tells why.
 *
 * The image is wanted for as long as the object lives: urgently while it is drawn, and in the background while it is
 * only bound to a row that nobody sees. Give the widget a size, because the image is fetched and decoded in the size in
 * which it is drawn. A smaller image is asked for by `#side=N`; the original is used if there is none.
 *
 * Decoded pictures are shared by all paintables of a program, within [func@set_memory_limit]. Animations show their
 * first picture.
 *
 * Use it on the main thread.
 */

/* In seconds: in which a picture appears, the light crosses its span, a ring turns, a text stays. */
static const double FADE = 0.2, SWEEP = 1.6, TURN = 1.2, PACE = 0.25;
/* The opacity of a picture whose image is gone. */
static const double DIM = 0.35;
/* Between two frames, in milliseconds: of a fade, and of a shimmer or a ring. */
enum { FAST = 16, CALM = 33 };

static const int sides[] = {32, 64, 128, 256, 512, 1024, 2048};
/* The side of what was drawn last: what is bound and was not drawn yet will be as large. */
static int usual_side;

struct _CachedPaintable {
    GObject parent;
    char *url, **headers;
    int scale;      /* 0: that of the finest monitor. */
    Image *image;   /* The wanted one; NULL without a URL. */
    int side;       /* Of the wanted one; 0: the original. */
    gboolean is_plain;  /* The daemon makes no smaller ones. */
    Image *shown;   /* Held: another size, shown until the wanted one is decoded. */
    Image *stand_in; /* Joined: a smaller one, shown until the wanted one comes. */
    gboolean has_looked; /* Whether there is one. */
    int width, height;  /* Of the original as far as it is known. */
    CachedState told;
    Look told_look;
    GdkTexture *told_texture; /* Only compared. */
    gboolean was_empty; /* A placeholder was drawn, so that the picture fades in. */
    gint64 fade_from;
    double ring;    /* What is drawn of it, which follows the fraction. */
    int percent;    /* The text in it; -1: none yet. */
    double counted_at; /* When that was changed, in seconds. */
    double pause;   /* The longest time until the next attempt that was seen, in seconds. */
    gboolean moves; /* It is in `moving`. */
};

enum { URL = 1, HEADERS, SCALE, STATE, FRACTION, TEXTURE, ERROR, DESCRIPTION, LAST };
static GParamSpec *properties[LAST];

static void paintable_interface_init(GdkPaintableInterface *);
G_DEFINE_FINAL_TYPE_WITH_CODE(CachedPaintable, cached_paintable, G_TYPE_OBJECT,
                              G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, paintable_interface_init))
G_DEFINE_ENUM_TYPE(CachedState, cached_state, G_DEFINE_ENUM_VALUE(CACHED_STATE_MISSING, "missing"),
                   G_DEFINE_ENUM_VALUE(CACHED_STATE_IN_FLIGHT, "in-flight"),
                   G_DEFINE_ENUM_VALUE(CACHED_STATE_CACHED, "cached"), G_DEFINE_ENUM_VALUE(CACHED_STATE_FAILED, "failed"))
G_DEFINE_QUARK(cached-error-quark, cached_error)

/* MARK: Which image */

static void drop_stand_in(CachedPaintable *self) {
    self->has_looked = FALSE;
    if (self->stand_in) image_leave(g_steal_pointer(&self->stand_in), self);
}

static void use(CachedPaintable *self, int side) {
    Image *before = self->image;
    drop_stand_in(self);
    self->side = side;
    self->image = image_join(self->url, side, self->headers, self);
    if (before) {
        if (before->texture && !self->image->texture) {
            if (self->shown) image_release(self->shown);
            self->shown = image_hold(before);
        }
        image_leave(before, self);
    }
}

/* The side to ask for; 0: the original. */
static int side_for(CachedPaintable *self, double pixels) {
    if (self->is_plain) return 0;
    const char *fragment = strchr(self->url, '#');
    if (fragment && strstr(fragment, "side=")) return 0; /* The program has chosen. */
    for (guint i = 0; i < G_N_ELEMENTS(sides); i++)
        if (pixels <= sides[i]) return sides[i];
    return 0;
}

/* Asks for more if it is drawn larger. What was fetched larger serves. */
static void choose(CachedPaintable *self, double pixels) {
    int side = side_for(self, pixels);
    const Image *image = self->image;
    gboolean has_file = image->state == CACHED_STATE_CACHED && image->width > 0;
    int longest = MAX(image->width, image->height);
    if (self->side == side) return;
    if (self->side == 0) {
        /* An original that is small serves, and so does one that a picture was made of. */
        if (has_file && (longest <= side || image->texture)) return;
    } else if (side != 0 && side < self->side) {
        if (image->wanted >= 0 || has_file) return;
    } else if (has_file && longest < self->side) {
        return; /* It is the whole one: smaller ones are never enlarged. */
    }
    use(self, side);
}

Image *paintable_guess_size(CachedPaintable *self) {
    if (usual_side) choose(self, usual_side);
    return self->image;
}

static int scale_of(CachedPaintable *self) {
    static gint64 looked_at;
    static int finest = 1;
    if (self->scale > 0) return self->scale;
    gint64 now = g_get_monotonic_time();
    GdkDisplay *display = gdk_display_get_default();
    if (display && (looked_at == 0 || now - looked_at > G_USEC_PER_SEC)) {
        looked_at = now, finest = 1;
        GListModel *monitors = gdk_display_get_monitors(display);
        for (guint i = 0; i < g_list_model_get_n_items(monitors); i++) {
            g_autoptr(GdkMonitor) monitor = g_list_model_get_item(monitors, i);
            finest = MAX(finest, gdk_monitor_get_scale_factor(monitor));
        }
    }
    return finest;
}

/* MARK: News */

static void learn_size(CachedPaintable *self) {
    int width = self->image->width, height = self->image->height;
    if (width <= 0 || MAX(width, height) <= MAX(self->width, self->height)) return;
    /* A smaller image has the shape, and the original the size. */
    int whole_width, whole_height;
    if (self->side && MAX(width, height) >= self->side && image_is_cached(self->url, &whole_width, &whole_height) &&
        whole_width > 0)
        width = whole_width, height = whole_height;
    self->width = width, self->height = height;
    gdk_paintable_invalidate_size(GDK_PAINTABLE(self));
}

gboolean paintable_is_coming(CachedPaintable *self) { return self->image && image_is_coming(self->image); }

void paintable_changed(CachedPaintable *self) {
    Image *image = self->image;
    if (!image) return;
    int width, height;
    if (image->state == CACHED_STATE_FAILED && self->side &&
        (image->is_underivable || image_is_cached(self->url, &width, &height))) {
        self->is_plain = TRUE;
        gboolean is_drawn = image->is_drawn;
        int need_width = image->need_width, need_height = image->need_height;
        use(self, 0);
        if (is_drawn) image_draw(self->image, need_width, need_height);
        image = self->image;
    }
    GObject *object = G_OBJECT(self);
    g_object_freeze_notify(object);
    learn_size(self);
    if (image->texture != self->told_texture) {
        self->told_texture = image->texture;
        g_object_notify_by_pspec(object, properties[TEXTURE]);
        g_object_notify_by_pspec(object, properties[DESCRIPTION]);
    }
    if (image->state != self->told) {
        self->told = image->state;
        g_object_notify_by_pspec(object, properties[STATE]);
        g_object_notify_by_pspec(object, properties[ERROR]);
    }
    if (image_look(image) != self->told_look) {
        self->told_look = image_look(image);
        g_object_notify_by_pspec(object, properties[DESCRIPTION]);
    }
    if (image->state == CACHED_STATE_IN_FLIGHT) g_object_notify_by_pspec(object, properties[FRACTION]);
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
    g_object_thaw_notify(object);
}

/* MARK: Movement */

/* Those that were drawn and look different in the next frame. Who scrolls away is not drawn, and costs nothing. */
static GPtrArray *moving;
static guint moving_source;
static gint64 moving_at; /* When they are drawn next. */

static gboolean move_all(gpointer data) {
    (void)data;
    moving_source = 0;
    g_autoptr(GPtrArray) now = g_steal_pointer(&moving);
    for (guint i = 0; i < now->len; i++) ((CachedPaintable *)g_object_ref(now->pdata[i]))->moves = FALSE;
    for (guint i = 0; i < now->len; i++) {
        gdk_paintable_invalidate_contents(now->pdata[i]);
        g_object_unref(now->pdata[i]);
    }
    return G_SOURCE_REMOVE;
}

static void move(CachedPaintable *self, int interval) {
    if (!moving) moving = g_ptr_array_new();
    if (!self->moves) g_ptr_array_add(moving, self);
    self->moves = TRUE;
    gint64 at = g_get_monotonic_time() + (gint64)1000 * interval;
    if (moving_source && moving_at <= at) return;
    if (moving_source) g_source_remove(moving_source);
    moving_source = g_timeout_add(interval, move_all, NULL), moving_at = at;
}

/* Whether the person at the screen wants things to move. */
static gboolean is_animated(void) {
    GtkSettings *settings = gdk_display_get_default() ? gtk_settings_get_default() : NULL;
    gboolean animations = TRUE;
    if (settings) g_object_get(settings, "gtk-enable-animations", &animations, NULL);
    return animations;
}

/* MARK: Drawing */

/* One light for all: its place follows from the clock. It leans, so what is lower is lit later. */
static void draw_shimmer(GtkSnapshot *snapshot, const graphene_rect_t *area, float x, float y, float span, double now) {
    double reach = 0.4 * span, way = span + reach + area->size.height / 2, turn = now / SWEEP;
    float light = (turn - floor(turn)) * way - reach - x - y / 2 + area->origin.x;
    /* Grey on grey suits light and dark themes. */
    static const GskColorStop stops[] = {{0, {.5, .5, .5, 0}}, {.5, {.5, .5, .5, .3}}, {1, {.5, .5, .5, 0}}};
    gtk_snapshot_append_linear_gradient(
        snapshot, area, &GRAPHENE_POINT_INIT(light, area->origin.y),
        &GRAPHENE_POINT_INIT(light + .8f * (float)reach, area->origin.y + .4f * (float)reach), stops, G_N_ELEMENTS(stops));
}

/* News come some times a second. The ring follows them smoothly, and never runs ahead. */
static double follow(CachedPaintable *self, double end, gboolean animated) {
    self->ring = !animated || end < self->ring ? end : self->ring + (end - self->ring) * .25;
    if (end - self->ring < .004) self->ring = end;
    else move(self, CALM);
    return self->ring;
}

/* The text changes no faster than it can be read, and does not fall within one attempt. */
static int count_percent(CachedPaintable *self, double now) {
    int percent = MIN(99, 100 * self->image->fraction);
    if (percent > self->percent && self->percent >= 0 && now - self->counted_at < PACE) move(self, CALM);
    else if (percent > self->percent) self->percent = percent, self->counted_at = now;
    return self->percent;
}

/* Draws the state of an image: in the place of its picture, or on it. */
static void draw_state(CachedPaintable *self, GtkSnapshot *snapshot, const graphene_rect_t *area, float x, float y,
                       float span, double now, gboolean has_picture) {
    gboolean animated = is_animated();
    Look look = image_look(self->image);
    if (has_picture) {
        sign_draw_ground(snapshot, area);
        if (animated && (look == LOOK_UNMEASURED || look == LOOK_DERIVING)) move(self, CALM);
    } else if (look_is_coming(look) && animated) {
        draw_shimmer(snapshot, area, x, y, span, now);
        move(self, CALM);
    }
    double share = 0, turn = now / TURN;
    g_autofree char *text = NULL;
    if (look != LOOK_RETRYING) self->pause = 0;
    switch (look) {
    case LOOK_RECEIVING: case LOOK_PUBLISHING:
        /* Only a published image closes the ring. */
        share = follow(self, look == LOOK_PUBLISHING ? .97 : MIN(self->image->fraction, .97), animated);
        if (count_percent(self, now) >= 0) text = g_strdup_printf("%d %%", self->percent);
        break;
    case LOOK_CACHED:
        /* An image that is only to be decoded has a calm placeholder. */
        if (self->ring <= 0) return;
        share = follow(self, 1, animated);
        break;
    case LOOK_RETRYING: {
        double left = image_pause(self->image);
        self->pause = MAX(self->pause, left);
        if (left > 0) share = left / self->pause, move(self, 1000);
        if (left > 0 && left < 6000)
            text = left < 100 ? g_strdup_printf("%.0f s", ceil(left)) : g_strdup_printf("%.0f min", left / 60);
        self->ring = 0, self->percent = -1;
        break;
    }
    case LOOK_QUEUED: {
        int place = image_place(self->image);
        if (place > 0 && place < 1000) text = g_strdup_printf("%d", place);
    } /* Falls through. */
    case LOOK_CONNECTING: self->ring = 0, self->percent = -1; break;
    case LOOK_UNKNOWN: self->ring = 0, self->percent = -1; return;
    default: break;
    }
    sign_draw(snapshot, area, look, share, animated ? turn - floor(turn) : -1, text ? text : "");
}

/* The picture to draw in so many pixels; NULL if there is none yet. */
static GdkTexture *find_texture(CachedPaintable *self, double width, double height) {
    if (!self->image) return NULL;
    choose(self, MAX(width, height));
    usual_side = MIN(MAX(width, height), 2048);
    image_draw(self->image, width, height);
    GdkTexture *texture = image_texture(self->image);
    if (texture) {
        if (self->shown) image_release(g_steal_pointer(&self->shown));
        drop_stand_in(self);
        return texture;
    }
    if ((texture = image_texture(self->shown))) return texture;
    if (!self->has_looked && image_is_coming(self->image)) {
        self->has_looked = TRUE;
        self->stand_in = image_join_stand_in(self->image, self);
    }
    if (self->stand_in) image_draw(self->stand_in, width, height);
    return image_texture(self->stand_in);
}

void paintable_draw(CachedPaintable *self, GtkSnapshot *snapshot, const graphene_rect_t *area,
                    const graphene_rect_t *picture, float x, float y, float span) {
    double scale = scale_of(self), now = g_get_monotonic_time() / 1e6;
    GdkTexture *texture = find_texture(self, ceil(picture->size.width * scale), ceil(picture->size.height * scale));

    double opacity = 1;
    if (texture && self->was_empty) {
        self->was_empty = FALSE;
        self->fade_from = is_animated() ? g_get_monotonic_time() : 0;
    }
    if (texture && self->fade_from) {
        opacity = (now - self->fade_from / 1e6) / FADE;
        if (opacity < 1) move(self, FAST);
        else opacity = 1, self->fade_from = 0;
    }
    if (!texture || opacity < 1)
        gtk_snapshot_append_color(snapshot, &(GdkRGBA){.5, .5, .5, .18}, area);
    if (texture) {
        int marks = image_marks(self->image);
        if (marks & MARK_GONE) opacity *= DIM;
        if (opacity < 1) gtk_snapshot_push_opacity(snapshot, MAX(opacity, 0));
        gtk_snapshot_append_texture(snapshot, texture, picture);
        if (opacity < 1) gtk_snapshot_pop(snapshot);
        if (marks) marks_draw(snapshot, area, marks);
        gboolean is_refreshed = self->image->state == CACHED_STATE_CACHED && image_look(self->image) != LOOK_CACHED;
        if (is_refreshed) draw_state(self, snapshot, area, x, y, span, now, TRUE);
        else self->ring = 0, self->percent = -1;
        return;
    }
    self->was_empty = TRUE;
    if (self->image) draw_state(self, snapshot, area, x, y, span, now, FALSE);
}

static void paintable_snapshot(GdkPaintable *paintable, GdkSnapshot *snapshot, double width, double height) {
    graphene_rect_t area = GRAPHENE_RECT_INIT(0, 0, width, height);
    paintable_draw(CACHED_PAINTABLE(paintable), snapshot, &area, &area, 0, 0, width);
}

static int paintable_width(GdkPaintable *paintable) { return CACHED_PAINTABLE(paintable)->width; }

static int paintable_height(GdkPaintable *paintable) { return CACHED_PAINTABLE(paintable)->height; }

static GdkPaintable *paintable_current(GdkPaintable *paintable) {
    CachedPaintable *self = CACHED_PAINTABLE(paintable);
    GdkTexture *texture = image_texture(self->image);
    return texture ? GDK_PAINTABLE(g_object_ref(texture)) : gdk_paintable_new_empty(self->width, self->height);
}

static void paintable_interface_init(GdkPaintableInterface *interface) {
    interface->snapshot = paintable_snapshot;
    interface->get_intrinsic_width = paintable_width;
    interface->get_intrinsic_height = paintable_height;
    interface->get_current_image = paintable_current;
}

/* MARK: The object */

/**
 * cached_paintable_new:
 * @url: (nullable): the URL of the image, perhaps with a variant as in `#side=256`
 *
 * Makes a picture of the image. What is known of it without waiting is known at once.
 *
 * Returns: (transfer full): a new paintable
 */
CachedPaintable *cached_paintable_new(const char *url) { return g_object_new(CACHED_TYPE_PAINTABLE, "url", url, NULL); }

/**
 * cached_paintable_get_url: (get-property url)
 * @self: a paintable
 *
 * Returns: (nullable): the URL of the image
 */
const char *cached_paintable_get_url(CachedPaintable *self) {
    g_return_val_if_fail(CACHED_IS_PAINTABLE(self), NULL);
    return self->url;
}

/**
 * cached_paintable_get_state: (get-property state)
 * @self: a paintable
 *
 * Returns: the state of the image
 */
CachedState cached_paintable_get_state(CachedPaintable *self) {
    g_return_val_if_fail(CACHED_IS_PAINTABLE(self), CACHED_STATE_MISSING);
    return self->image ? self->image->state : CACHED_STATE_MISSING;
}

/**
 * cached_paintable_get_fraction: (get-property fraction)
 * @self: a paintable
 *
 * Returns: how much of the image has arrived, from 0 to 1; -1 while its length is unknown
 */
double cached_paintable_get_fraction(CachedPaintable *self) {
    g_return_val_if_fail(CACHED_IS_PAINTABLE(self), -1);
    return !self->image ? -1 : self->image->state == CACHED_STATE_CACHED ? 1 : self->image->fraction;
}

/**
 * cached_paintable_get_texture: (get-property texture)
 * @self: a paintable
 *
 * Returns: (nullable) (transfer none): the decoded picture; %NULL if there is none in memory, as when nobody draws it
 */
GdkTexture *cached_paintable_get_texture(CachedPaintable *self) {
    g_return_val_if_fail(CACHED_IS_PAINTABLE(self), NULL);
    return self->image ? self->image->texture : NULL;
}

/**
 * cached_paintable_get_error: (get-property error)
 * @self: a paintable
 *
 * Returns: (nullable) (transfer none): why the image failed, with a [error@Error] and a message for people; %NULL if
 *   it did not
 */
const GError *cached_paintable_get_error(CachedPaintable *self) {
    g_return_val_if_fail(CACHED_IS_PAINTABLE(self), NULL);
    return self->image ? self->image->error : NULL;
}

/* The last part of the path, as a person reads it. */
static char *name_of(const char *url) {
    g_autofree char *path = g_strndup(url, strcspn(url, "?#"));
    for (size_t end = strlen(path); end > 0 && path[end - 1] == '/'; end--) path[end - 1] = 0;
    const char *slash = strrchr(path, '/');
    g_autofree char *name = g_uri_unescape_string(slash ? slash + 1 : path, NULL);
    return g_utf8_make_valid(name ? name : slash ? slash + 1 : path, -1);
}

/**
 * cached_paintable_get_description: (get-property description)
 * @self: a paintable
 *
 * Returns: (transfer full): the name of the file, and what becomes of it, for people who do not see the picture
 */
char *cached_paintable_get_description(CachedPaintable *self) {
    g_return_val_if_fail(CACHED_IS_PAINTABLE(self), NULL);
    if (!self->image) return g_strdup("");
    g_autofree char *name = name_of(self->url);
    if (self->image->error) return g_strdup_printf("%s: %s", name, self->image->error->message);
    g_autofree char *words = image_words(self->image);
    return words ? g_strdup_printf("%s, %s", name, words) : g_steal_pointer(&name);
}

/**
 * cached_paintable_get_scale: (get-property scale)
 * @self: a paintable
 *
 * Returns: the pixels of the device for one of the application; 0 if it is that of the finest monitor
 */
int cached_paintable_get_scale(CachedPaintable *self) {
    g_return_val_if_fail(CACHED_IS_PAINTABLE(self), 0);
    return self->scale;
}

/**
 * cached_paintable_set_scale: (set-property scale)
 * @self: a paintable
 * @scale: that of the widget, as [method@Gtk.Widget.get_scale_factor] tells it; 0 for that of the finest monitor
 *
 * Says in how many pixels it is drawn. A [class@Picture] does that by itself.
 */
void cached_paintable_set_scale(CachedPaintable *self, int scale) {
    g_return_if_fail(CACHED_IS_PAINTABLE(self) && scale >= 0);
    if (scale == self->scale) return;
    self->scale = scale;
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
    g_object_notify_by_pspec(G_OBJECT(self), properties[SCALE]);
}

/**
 * cached_paintable_retry:
 * @self: a paintable
 *
 * Asks the origin again, now, if the image has failed. Does nothing in another state.
 */
void cached_paintable_retry(CachedPaintable *self) {
    g_return_if_fail(CACHED_IS_PAINTABLE(self));
    if (self->image) image_retry(self->image);
}

static void paintable_constructed(GObject *object) {
    CachedPaintable *self = CACHED_PAINTABLE(object);
    if (self->url) {
        /* A picture that was made of the original serves again. */
        use(self, usual_side && !image_has_picture(self->url) ? side_for(self, usual_side) : 0);
        self->told = self->image->state, self->told_look = image_look(self->image);
        self->told_texture = self->image->texture;
        self->width = self->image->width, self->height = self->image->height;
        if (image_is_coming(self->image)) self->ring = MAX(self->image->fraction, 0); /* It starts where it was. */
    }
    G_OBJECT_CLASS(cached_paintable_parent_class)->constructed(object);
}

static void paintable_finalize(GObject *object) {
    CachedPaintable *self = CACHED_PAINTABLE(object);
    if (self->moves) g_ptr_array_remove_fast(moving, self);
    if (self->image) image_leave(self->image, self);
    drop_stand_in(self);
    if (self->shown) image_release(self->shown);
    g_free(self->url), g_strfreev(self->headers);
    G_OBJECT_CLASS(cached_paintable_parent_class)->finalize(object);
}

static void paintable_get(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    CachedPaintable *self = CACHED_PAINTABLE(object);
    switch (id) {
    case URL: g_value_set_string(value, self->url); break;
    case HEADERS: g_value_set_boxed(value, self->headers); break;
    case SCALE: g_value_set_int(value, self->scale); break;
    case STATE: g_value_set_enum(value, cached_paintable_get_state(self)); break;
    case FRACTION: g_value_set_double(value, cached_paintable_get_fraction(self)); break;
    case TEXTURE: g_value_set_object(value, cached_paintable_get_texture(self)); break;
    case ERROR: g_value_set_boxed(value, cached_paintable_get_error(self)); break;
    case DESCRIPTION: g_value_take_string(value, cached_paintable_get_description(self)); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static void paintable_set(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    CachedPaintable *self = CACHED_PAINTABLE(object);
    switch (id) {
    case URL: self->url = g_value_dup_string(value); break;
    case HEADERS: self->headers = g_value_dup_boxed(value); break;
    case SCALE: cached_paintable_set_scale(self, g_value_get_int(value)); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static void cached_paintable_init(CachedPaintable *self) { self->percent = -1; }

static void cached_paintable_class_init(CachedPaintableClass *class) {
    GObjectClass *object = G_OBJECT_CLASS(class);
    object->constructed = paintable_constructed, object->finalize = paintable_finalize;
    object->get_property = paintable_get, object->set_property = paintable_set;
    const int once = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;
    const int told = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
    /**
     * CachedPaintable:url: (getter get_url)
     *
     * The URL of the image.
     */
    properties[URL] = g_param_spec_string("url", NULL, NULL, NULL, once);
    /**
     * CachedPaintable:headers:
     *
     * Header fields for the requests of an account, as `Authorization: Bearer …`. Only with a URL that ends in
     * `#as=NAME`.
     */
    properties[HEADERS] = g_param_spec_boxed("headers", NULL, NULL, G_TYPE_STRV, once);
    /**
     * CachedPaintable:scale: (getter get_scale) (setter set_scale)
     *
     * The pixels of the device for one of the application; 0: those of the finest monitor.
     */
    properties[SCALE] = g_param_spec_int("scale", NULL, NULL, 0, 64, 0,
                                         G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
    /**
     * CachedPaintable:state: (getter get_state)
     *
     * The state of the image.
     */
    properties[STATE] = g_param_spec_enum("state", NULL, NULL, CACHED_TYPE_STATE, CACHED_STATE_MISSING, told);
    /**
     * CachedPaintable:fraction: (getter get_fraction)
     *
     * How much of the image has arrived, from 0 to 1; -1 while its length is unknown.
     */
    properties[FRACTION] = g_param_spec_double("fraction", NULL, NULL, -1, 1, -1, told);
    /**
     * CachedPaintable:texture: (getter get_texture)
     *
     * The decoded picture; %NULL if there is none in memory.
     */
    properties[TEXTURE] = g_param_spec_object("texture", NULL, NULL, GDK_TYPE_TEXTURE, told);
    /**
     * CachedPaintable:error: (getter get_error)
     *
     * Why the image failed; %NULL if it did not.
     */
    properties[ERROR] = g_param_spec_boxed("error", NULL, NULL, G_TYPE_ERROR, told);
    /**
     * CachedPaintable:description: (getter get_description)
     *
     * The image in words, for people who do not see the picture.
     */
    properties[DESCRIPTION] = g_param_spec_string("description", NULL, NULL, NULL, told);
    g_object_class_install_properties(object, LAST, properties);
}
