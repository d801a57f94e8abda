#include "images.h"

/* The states of docs/lookup/states.md. Tests/Vectors/faces.json has the same ones for every program that shows the cache. */

static gboolean has_marks;

double image_pause(const Image *image) { return MAX(0, image->retry_at - g_get_real_time() / 1e6); }

Look image_look(const Image *image) {
    if (image->state == CACHED_STATE_FAILED) return LOOK_FAILED;
    gboolean is_here = image->state == CACHED_STATE_CACHED;
    /* Where marks are wanted, so is the ring of a refresh. */
    if (is_here && !(has_marks && image->phase)) return LOOK_CACHED;
    if (image->state == CACHED_STATE_MISSING && image->texture) return LOOK_GONE;
    /* The bytes that libcached tells of a cached image are those that are here. */
    gboolean is_measured = image->fraction >= 0 && !is_here;
    switch (image->phase) {
    /* If its host is asked nothing before a known time, it waits for that and not for a slot. */
    case CACHED_QUEUED: return image_pause(image) > 0 ? LOOK_RETRYING : LOOK_QUEUED;
    case CACHED_CONNECTING: return LOOK_CONNECTING;
    case CACHED_RECEIVING: return is_measured ? LOOK_RECEIVING : LOOK_UNMEASURED;
    case CACHED_RETRYING: return LOOK_RETRYING;
    case CACHED_DERIVING: return LOOK_DERIVING;
    case CACHED_PUBLISHING: return LOOK_PUBLISHING;
    default: break;
    }
    /* As far as the directory tells. */
    if (image->received > 0) return is_measured ? LOOK_RECEIVING : LOOK_UNMEASURED;
    return image->state == CACHED_STATE_IN_FLIGHT ? LOOK_CONNECTING : LOOK_UNKNOWN;
}

gboolean look_is_coming(Look look) {
    switch (look) {
    case LOOK_QUEUED: case LOOK_RETRYING: case LOOK_FAILED: case LOOK_CACHED: case LOOK_GONE: return FALSE;
    default: return TRUE;
    }
}

char *image_words(const Image *image) {
    static const char *const words[] = {
        [LOOK_UNKNOWN] = "loading", [LOOK_QUEUED] = "queued", [LOOK_CONNECTING] = "connecting",
        [LOOK_RECEIVING] = "receiving", [LOOK_UNMEASURED] = "receiving", [LOOK_DERIVING] = "deriving",
        [LOOK_PUBLISHING] = "saving", [LOOK_RETRYING] = "waits for the next attempt", [LOOK_GONE] = "no longer cached",
        [LOOK_FAILED] = NULL, [LOOK_CACHED] = NULL,
    };
    Look look = image_look(image);
    if (look == LOOK_RETRYING && image->reason) return g_strdup_printf("%s: %s", words[look], image->reason);
    return g_strdup(words[look]);
}

/* MARK: Marks */

/**
 * cached_gtk_set_marks:
 * @are_drawn: whether pictures have marks; %FALSE at first
 *
 * Draws on each picture what the cache knows of its image: a clock if its origin is asked at the next use, a diamond if the
 * image is never evicted, an exclamation mark if it could not be refreshed, and a ring while it is being refreshed. The
 * picture of an image that the cache no longer has is dim, and has a cross. For programs that show the cache itself.
 */
void cached_gtk_set_marks(gboolean are_drawn) { has_marks = are_drawn; }

int image_marks(Image *image) {
    if (!has_marks) return 0;
    image_learn_marks(image);
    if (image_look(image) == LOOK_GONE) return MARK_GONE;
    if (image->state != CACHED_STATE_CACHED) return 0;
    gboolean is_stale = image->fresh_until > 0 && image->fresh_until <= g_get_real_time() / G_USEC_PER_SEC;
    return (is_stale ? MARK_STALE : 0) | (image->is_pinned ? MARK_PINNED : 0) | (image->reason ? MARK_FAILED : 0);
}
