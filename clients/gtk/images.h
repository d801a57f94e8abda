/* The images of this program: what it wants of the daemon, what the daemon said, and the decoded pictures.
   Used by the main thread alone. */
#pragma once

#define CACHED_GTK_PUBLIC __attribute__((visibility("default"))) extern
#include "cached-gtk.h"

#include <cached.h>

typedef struct Job Job;

/* One URL as the daemon knows it, perhaps with a side. It lives while a paintable uses it or its picture is kept. */
typedef struct Image {
    char *url;          /* Perhaps with a side. Of a file, its path. */
    gboolean is_file;   /* It stands in for another one, and is never wanted. */
    char *original;     /* The URL without the side; NULL: it has none. */
    char **headers;     /* Of an account; NULL: none. */
    GPtrArray *users;   /* The paintables that want it, which leave before they end. */
    int holds;          /* Paintables that show it and want another one, and work under way. */

    CachedState state;
    int64_t received;
    double fraction;    /* 0 to 1; -1 while unknown. */
    int width, height;  /* In pixels, as it is shown; 0 while unknown. */
    uint64_t identity;  /* Of the file; 0 while unknown. */
    GError *error;
    gboolean is_underivable; /* Its original may do. */
    int phase;          /* enum cached_phase */
    gint64 retry_at;    /* The Unix second of the next attempt; 0: none is planned. */
    char *reason;       /* Why the last attempt failed although the image has not; NULL: it did not. */
    gint64 fresh_until; /* The Unix second; 0 while unknown. */
    gboolean is_pinned;
    gint64 looked_at;   /* When its file was asked for these two. */
    int losses;         /* How often the file was gone before it was decoded. */

    int wanted;         /* The priority that the daemon knows; -1: not wanted. */
    GList visible;      /* Its place among those that are wanted as visible. */
    GQueue *queue;      /* Its want changes soon; NULL: it does not. */
    GList change;       /* Its place there. */
    gboolean is_fresh;  /* It was never wanted. */
    GList fresh;        /* Its place among those. */
    gint64 joined_at;   /* Since when. */
    gboolean is_drawn;  /* Someone looks at it. */
    gint64 drawn_at;    /* Microseconds of the monotonic clock. */

    int need_width, need_height; /* The pixels in which it was drawn. */
    GdkTexture *texture;         /* Weak: a widget that draws it keeps it alive too. */
    uint64_t texture_identity;
    gboolean is_kept;   /* Counts for the limit. */
    GList kept;         /* Its place in the order of use. */
    Job *job;           /* Being decoded. */
} Image;

/* The image of a URL in this size, 0 for the original, with the state that is known without waiting. `user` leaves by
   image_leave. */
Image *image_join(const char *url, int side, char **headers, CachedPaintable *user);
/* A smaller image that is there, to be shown until this one comes; NULL: there is none. `user` leaves by image_leave. */
Image *image_join_stand_in(const Image *, CachedPaintable *user);
/* Whether the picture of an original is in memory. */
gboolean image_has_picture(const char *url);
void image_leave(Image *, CachedPaintable *user);
Image *image_hold(Image *);
void image_release(Image *);

/* It is being drawn in so many pixels: the daemon hears of it, and a picture is decoded if there is a file. */
void image_draw(Image *, int width, int height);
/* Its picture, which counts as used now; NULL if there is none in memory. */
GdkTexture *image_texture(Image *);
/* Asks the origin again. */
void image_retry(Image *);
/* Whether the file of a URL is there, which takes some microseconds. */
gboolean image_is_cached(const char *url, int *width, int *height);
/* Whether there is no picture yet, and it can still come. */
gboolean image_is_coming(const Image *);

/* Asks its file, now and then, whether it is stale or pinned: no news tell. */
void image_learn_marks(Image *);

/* What an image looks like without a picture, or on it while the image is being refreshed. */
typedef enum {
    LOOK_UNKNOWN, /* Nothing is known of it yet. */
    LOOK_QUEUED, LOOK_CONNECTING, LOOK_RECEIVING, LOOK_UNMEASURED, LOOK_DERIVING, LOOK_PUBLISHING, LOOK_RETRYING,
    LOOK_FAILED, LOOK_CACHED, LOOK_GONE
} Look;
Look image_look(const Image *);
/* Whether bytes arrive now, or may: only then the place shimmers. */
gboolean look_is_coming(Look);
/* What becomes of it, in words; NULL: nothing. */
char *image_words(const Image *);
/* The seconds until the next attempt. */
double image_pause(const Image *);
/* Its place among the queued images of its server that this program wants as visible; 0: it is not wanted so. */
int image_place(const Image *);
/* The marks on its picture. */
enum { MARK_STALE = 1, MARK_PINNED = 2, MARK_FAILED = 4, MARK_GONE = 8 };
int image_marks(Image *);

/* Makes a place for a ring on a picture. */
void sign_draw_ground(GtkSnapshot *, const graphene_rect_t *area);
/* Draws a ring in the middle. share: how much of it, 0 to 1. turn: its place in a turn, 0 to 1; -1: nothing turns. */
void sign_draw(GtkSnapshot *, const graphene_rect_t *area, Look, double share, double turn, const char *text);
void marks_draw(GtkSnapshot *, const graphene_rect_t *area, int marks);

/* Decodes its file in a thread, in the pixels that it needs. */
Job *job_start(Image *);
/* The media types of the loaders, with commas between them. */
const char *decodable_types(void);
/* Its result is not needed. */
void job_cancel(Job *);
/* Called on the main thread. texture: NULL if there is an error, which is G_FILE_ERROR_NOENT if the file is gone. */
void image_decoded(Image *, GdkTexture *texture, uint64_t identity, int width, int height, const GError *error);

/* News for a paintable: of its image, or that there is a picture. */
void paintable_changed(CachedPaintable *);
gboolean paintable_is_coming(CachedPaintable *);
/* What is not drawn yet will be as large as what was drawn last. Its image. */
Image *paintable_guess_size(CachedPaintable *);
/* Draws it into an area, the picture into its own place. The light of the shimmer crosses the span, which begins at x. */
void paintable_draw(CachedPaintable *, GtkSnapshot *, const graphene_rect_t *area, const graphene_rect_t *picture,
                    float x, float y, float span);
