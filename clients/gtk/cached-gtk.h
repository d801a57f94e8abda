/* Pictures of the image cache for GTK 4: a shimmer, a ring, then the image. For the main thread of a program.

   Build with `pkg-config --cflags --libs cached-gtk`. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#ifndef CACHED_GTK_PUBLIC
#define CACHED_GTK_PUBLIC extern
#endif

/**
 * CachedState:
 * @CACHED_STATE_MISSING: There is no file. If something draws the image, it is coming.
 * @CACHED_STATE_IN_FLIGHT: The daemon downloads it.
 * @CACHED_STATE_CACHED: The file is complete. [property@Paintable:texture] tells whether it is decoded too.
 * @CACHED_STATE_FAILED: [property@Paintable:error] tells why.
 *
 * The state of an image.
 */
typedef enum {
    CACHED_STATE_MISSING,
    CACHED_STATE_IN_FLIGHT,
    CACHED_STATE_CACHED,
    CACHED_STATE_FAILED
} CachedState;

#define CACHED_TYPE_STATE cached_state_get_type()
CACHED_GTK_PUBLIC GType cached_state_get_type(void);

/**
 * CachedError:
 * @CACHED_ERROR_OTHER: None of the others; the message tells.
 * @CACHED_ERROR_HTTP: The origin refused the request, for example with the status 404.
 * @CACHED_ERROR_UNREACHABLE: The origin did not answer, or not to the end.
 * @CACHED_ERROR_NO_IMAGE: There will be no image under this URL: it is not valid, or it leads to something else.
 * @CACHED_ERROR_UNDECODABLE: The image is cached, and this program cannot decode it.
 * @CACHED_ERROR_NO_DAEMON: No daemon answers. The image still comes when one does.
 * @CACHED_ERROR_NO_ROOM: The disk is full, or the cache cannot be used.
 *
 * Why an image failed. `docs/lookup/failures.md` of the project lists the causes.
 */
typedef enum {
    CACHED_ERROR_OTHER,
    CACHED_ERROR_HTTP,
    CACHED_ERROR_UNREACHABLE,
    CACHED_ERROR_NO_IMAGE,
    CACHED_ERROR_UNDECODABLE,
    CACHED_ERROR_NO_DAEMON,
    CACHED_ERROR_NO_ROOM
} CachedError;

#define CACHED_ERROR cached_error_quark()
CACHED_GTK_PUBLIC GQuark cached_error_quark(void);

#define CACHED_TYPE_PAINTABLE cached_paintable_get_type()
CACHED_GTK_PUBLIC G_DECLARE_FINAL_TYPE(CachedPaintable, cached_paintable, CACHED, PAINTABLE, GObject)

CACHED_GTK_PUBLIC CachedPaintable *cached_paintable_new(const char *url);
CACHED_GTK_PUBLIC const char *cached_paintable_get_url(CachedPaintable *self);
CACHED_GTK_PUBLIC CachedState cached_paintable_get_state(CachedPaintable *self);
CACHED_GTK_PUBLIC double cached_paintable_get_fraction(CachedPaintable *self);
CACHED_GTK_PUBLIC GdkTexture *cached_paintable_get_texture(CachedPaintable *self);
CACHED_GTK_PUBLIC const GError *cached_paintable_get_error(CachedPaintable *self);
CACHED_GTK_PUBLIC char *cached_paintable_get_description(CachedPaintable *self);
CACHED_GTK_PUBLIC int cached_paintable_get_scale(CachedPaintable *self);
CACHED_GTK_PUBLIC void cached_paintable_set_scale(CachedPaintable *self, int scale);
CACHED_GTK_PUBLIC void cached_paintable_retry(CachedPaintable *self);

/**
 * CachedFit:
 * @CACHED_FIT_COVER: The image fills the widget, and its longer side is cut off.
 * @CACHED_FIT_CONTAIN: All of the image is in the widget, and its shorter side leaves room.
 * @CACHED_FIT_FILL: The image fills the widget, and is stretched.
 *
 * How an image fits into a [class@Picture].
 */
typedef enum { CACHED_FIT_COVER, CACHED_FIT_CONTAIN, CACHED_FIT_FILL } CachedFit;

#define CACHED_TYPE_FIT cached_fit_get_type()
CACHED_GTK_PUBLIC GType cached_fit_get_type(void);

#define CACHED_TYPE_PICTURE cached_picture_get_type()
CACHED_GTK_PUBLIC G_DECLARE_FINAL_TYPE(CachedPicture, cached_picture, CACHED, PICTURE, GtkWidget)

CACHED_GTK_PUBLIC GtkWidget *cached_picture_new(const char *url);
CACHED_GTK_PUBLIC const char *cached_picture_get_url(CachedPicture *self);
CACHED_GTK_PUBLIC void cached_picture_set_url(CachedPicture *self, const char *url);
CACHED_GTK_PUBLIC CachedPaintable *cached_picture_get_paintable(CachedPicture *self);
CACHED_GTK_PUBLIC void cached_picture_set_paintable(CachedPicture *self, CachedPaintable *paintable);
CACHED_GTK_PUBLIC CachedFit cached_picture_get_fit(CachedPicture *self);
CACHED_GTK_PUBLIC void cached_picture_set_fit(CachedPicture *self, CachedFit fit);
CACHED_GTK_PUBLIC int cached_picture_get_radius(CachedPicture *self);
CACHED_GTK_PUBLIC void cached_picture_set_radius(CachedPicture *self, int radius);
CACHED_GTK_PUBLIC gboolean cached_picture_get_enlarge(CachedPicture *self);
CACHED_GTK_PUBLIC void cached_picture_set_enlarge(CachedPicture *self, gboolean enlarge);
CACHED_GTK_PUBLIC const char *cached_picture_get_alternative_text(CachedPicture *self);
CACHED_GTK_PUBLIC void cached_picture_set_alternative_text(CachedPicture *self, const char *text);

CACHED_GTK_PUBLIC void cached_gtk_set_memory_limit(gsize bytes);
CACHED_GTK_PUBLIC gsize cached_gtk_get_memory_used(void);
CACHED_GTK_PUBLIC void cached_gtk_set_marks(gboolean are_drawn);

G_END_DECLS
