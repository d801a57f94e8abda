#include "images.h"

#include <errno.h>
#include <glib-unix.h>

/* Who was drawn is looked at so often, in milliseconds, while an image is coming: twice without being drawn, and it
   counts as bound only. GTK binds some 200 cells of a grid that shows 25. */
enum { CENSUS = 250 };
/* How long the main loop may be busy with one turn of news or wants, in microseconds. */
enum { TURN = 500 };
/* After so many losses of a file an image has failed: the cache is too small for it. */
enum { LOSSES = 3 };

static cached *cache;
static GHashTable *images;  /* By URL. */
static GHashTable *awaited; /* A set: those that someone looks at and that can still come. */
static GQueue fresh = G_QUEUE_INIT; /* Those that nobody has looked at yet, in the order in which they were made. */
static GQueue urgent = G_QUEUE_INIT, changes = G_QUEUE_INIT; /* Those whose want changes, what is drawn before others. */
static GQueue visible = G_QUEUE_INIT; /* Those that are wanted as visible, in the order in which they were asked for. */
static GQueue kept = G_QUEUE_INIT;    /* The pictures in memory, those used last first. */
static gsize memory, limit = 64 << 20;
static int pressure;
static guint flush_source, census_source, more_source, relief_source;
static gsize relief_goal; /* The memory that is left after pressure, */
static gint64 relief_at;  /* which began then. */

static void queue_change(Image *);
static gboolean news(int, GIOCondition, gpointer);

/* For a look at the directory alone; the stand-in costs more than all else. */
#define CACHED_IMAGE_BRIEFLY {.length = offsetof(cached_image, stand_in)}

/* Whether there is a handle, which the first image opens. */
static gboolean is_open(void) {
    if (cache) return TRUE;
    if (!images) {
        images = g_hash_table_new(g_str_hash, g_str_equal);
        awaited = g_hash_table_new(NULL, NULL);
    }
    cache = cached_open(NULL, NULL);
    if (!cache) return FALSE;
    g_unix_fd_add(cached_fd(cache), G_IO_IN, news, NULL);
    return TRUE;
}

static void collect_users(Image *image, GPtrArray *all) {
    for (guint i = 0; i < image->users->len; i++) g_ptr_array_add(all, g_object_ref(image->users->pdata[i]));
}

/* Who is on the screen is drawn before the next census. */
static void invalidate(GPtrArray *users) {
    for (guint i = 0; i < users->len; i++) gdk_paintable_invalidate_contents(users->pdata[i]);
}

/* MARK: Memory */

static gsize cost(GdkTexture *texture) {
    return (gsize)4 * gdk_texture_get_width(texture) * gdk_texture_get_height(texture);
}

/* Frees it if nobody needs it. */
static void tidy(Image *image) {
    if (image->users->len || image->holds || image->is_kept || image->queue || image->wanted >= 0) return;
    g_hash_table_remove(images, image->url);
    g_hash_table_remove(awaited, image);
    if (image->is_fresh) g_queue_unlink(&fresh, &image->fresh);
    g_clear_weak_pointer(&image->texture);
    g_clear_error(&image->error);
    g_ptr_array_unref(image->users);
    g_strfreev(image->headers);
    g_free(image->url), g_free(image->original), g_free(image->reason);
    g_free(image);
}

static void give_up(Image *image) {
    g_queue_unlink(&kept, &image->kept);
    image->is_kept = FALSE;
    memory -= cost(image->texture);
    GdkTexture *texture = image->texture;
    g_object_unref(texture); /* Clears image->texture unless a widget draws it. */
    tidy(image);
}

static void shrink(gsize most) {
    while (memory > most && kept.tail) give_up(kept.tail->data);
}

static void keep(Image *image) {
    if (image->is_kept) {
        g_queue_unlink(&kept, &image->kept);
    } else {
        image->is_kept = TRUE;
        memory += cost(g_object_ref(image->texture));
    }
    g_queue_push_head_link(&kept, &image->kept);
}

GdkTexture *image_texture(Image *image) {
    if (!image || !image->texture) return NULL;
    image->drawn_at = g_get_monotonic_time();
    keep(image);
    GdkTexture *texture = image->texture;
    shrink(MAX(limit, cost(texture))); /* It may be one that only a widget had kept. */
    return texture;
}

/**
 * cached_gtk_set_memory_limit:
 * @bytes: how much the decoded pictures of this program may take; 64 MiB at first
 *
 * Limits the memory of pictures. Those that were drawn least lately are given up first. Pictures on the screen stay, and
 * so count only as long as there is room. Half of the others are given up if the daemon reports that memory is getting
 * short, and all if it has run out.
 */
void cached_gtk_set_memory_limit(gsize bytes) {
    limit = bytes;
    shrink(limit);
}

/**
 * cached_gtk_get_memory_used:
 *
 * Returns: the bytes of the decoded pictures that are kept, without those that only a widget holds
 */
gsize cached_gtk_get_memory_used(void) { return memory; }

static gboolean relieve(gpointer data) {
    (void)data;
    relief_source = 0;
    while (memory > relief_goal && kept.tail && ((Image *)kept.tail->data)->drawn_at < relief_at) give_up(kept.tail->data);
    return G_SOURCE_REMOVE;
}

static void take_pressure(void) {
    int level = cached_pressure(cache);
    if (level > pressure) {
        relief_goal = level == CACHED_PRESSURE_CRITICAL ? 0 : memory / 2;
        relief_at = g_get_monotonic_time();
        /* What is on the screen is drawn now, and so is not given up. */
        g_autoptr(GPtrArray) users = g_ptr_array_new_with_free_func(g_object_unref);
        for (GList *each = kept.head; each; each = each->next) collect_users(each->data, users);
        invalidate(users);
        if (!relief_source) relief_source = g_timeout_add(CENSUS, relieve, NULL);
    }
    pressure = level;
}

/* MARK: States */

static void want(Image *image, int priority) {
    if (priority == image->wanted) return;
    if (image->wanted == CACHED_VISIBLE) g_queue_unlink(&visible, &image->visible);
    if (priority == CACHED_VISIBLE) g_queue_push_tail_link(&visible, &image->visible);
    image->wanted = priority;
}

static gboolean shares_server(const char *url, const char *other) {
    const char *host = strstr(url, "://");
    if (!host) return FALSE;
    size_t length = host + 3 + strcspn(host + 3, "/?#") - url;
    return strncmp(url, other, length) == 0 && strchr("/?#", other[length]);
}

int image_place(const Image *image) {
    if (image->wanted != CACHED_VISIBLE) return 0;
    int place = 1;
    for (const GList *each = visible.head; each != &image->visible; each = each->next)
        place += image_look(each->data) == LOOK_QUEUED && shares_server(image->url, ((const Image *)each->data)->url);
    return place;
}

gboolean image_is_coming(const Image *image) {
    return !image->texture && (image->state == CACHED_STATE_MISSING || image->state == CACHED_STATE_IN_FLIGHT);
}

static const struct {
    const char *kind;
    CachedError code;
} codes[] = {
    {"http", CACHED_ERROR_HTTP},
    {"unresolved", CACHED_ERROR_UNREACHABLE}, {"unreachable", CACHED_ERROR_UNREACHABLE},
    {"timeout", CACHED_ERROR_UNREACHABLE}, {"truncated", CACHED_ERROR_UNREACHABLE},
    {"tls", CACHED_ERROR_UNREACHABLE}, {"protocolError", CACHED_ERROR_UNREACHABLE},
    {"redirect", CACHED_ERROR_UNREACHABLE}, {"addressRefused", CACHED_ERROR_UNREACHABLE},
    {"invalidURL", CACHED_ERROR_NO_IMAGE}, {"notAnImage", CACHED_ERROR_NO_IMAGE},
    {"tooLarge", CACHED_ERROR_NO_IMAGE}, {"unverifiable", CACHED_ERROR_NO_IMAGE},
    {"notAccepted", CACHED_ERROR_UNDECODABLE},
    {"noDaemon", CACHED_ERROR_NO_DAEMON}, {"noRoom", CACHED_ERROR_NO_ROOM}, {"storage", CACHED_ERROR_NO_ROOM},
    {"obstructed", CACHED_ERROR_NO_ROOM}, {"notPermitted", CACHED_ERROR_NO_ROOM},
};

static void fail(Image *image, CachedError code, const char *message) {
    image->state = CACHED_STATE_FAILED;
    g_clear_error(&image->error);
    image->error = g_error_new_literal(CACHED_ERROR, code, message ? message : "the image failed");
}

static void take(Image *image, const cached_image *found) {
    g_clear_error(&image->error);
    image->state = (CachedState)found->state;
    image->received = found->received;
    image->fraction = found->total > 0 ? CLAMP((double)found->received / found->total, 0, 1) : -1;
    if (found->width > 0 && found->height > 0) image->width = found->width, image->height = found->height;
    if (image->state == CACHED_STATE_CACHED) image->identity = found->identity;
    image->phase = found->phase, image->retry_at = found->retry_at;
    image->fresh_until = found->fresh_until, image->is_pinned = found->pinned, image->looked_at = 0;
    g_free(image->reason);
    image->reason = image->state == CACHED_STATE_FAILED ? NULL : g_strdup(found->message);
    if (image->state == CACHED_STATE_FAILED) {
        CachedError code = CACHED_ERROR_OTHER;
        for (guint i = 0; i < G_N_ELEMENTS(codes); i++)
            if (g_strcmp0(codes[i].kind, found->kind) == 0) code = codes[i].code;
        /* A daemon that knows no sizes takes the fragment for a mistake. */
        image->is_underivable = g_strcmp0(found->kind, "underivable") == 0 || code == CACHED_ERROR_NO_IMAGE;
        fail(image, code, found->message);
    }
}

/* Its state or its users changed. */
static void settle(Image *image) {
    if (image->users->len && image->is_drawn && image_is_coming(image)) g_hash_table_add(awaited, image);
    else g_hash_table_remove(awaited, image);
}

static void tell(Image *image) {
    settle(image);
    /* Who hears it can do anything: leave, join, end. */
    image->holds++;
    g_autoptr(GPtrArray) users = g_ptr_array_new_with_free_func(g_object_unref);
    collect_users(image, users);
    for (guint i = 0; i < users->len; i++) paintable_changed(users->pdata[i]);
    g_clear_pointer(&users, g_ptr_array_unref);
    image->holds--;
    tidy(image);
}

static gboolean more(gpointer data) {
    more_source = 0;
    news(-1, 0, data);
    return G_SOURCE_REMOVE;
}

static void decode(Image *image);

static gboolean news(int descriptor, GIOCondition condition, gpointer data) {
    (void)descriptor, (void)condition, (void)data;
    gint64 end = g_get_monotonic_time() + TURN;
    for (;;) {
        cached_image found = CACHED_IMAGE_INIT;
        if (cached_next(cache, &found) != 1) break;
        Image *image = found.url ? g_hash_table_lookup(images, found.url) : NULL;
        if (!image) continue;
        gboolean had_file = image->state == CACHED_STATE_CACHED;
        take(image, &found);
        if (image->state == CACHED_STATE_CACHED && (image->texture || (image->is_drawn && !had_file))) decode(image);
        /* Evicted or removed. It is wanted anew if it is drawn without a picture. */
        if (image->state == CACHED_STATE_MISSING && had_file && image->wanted >= 0) {
            cached_drop(cache, image->url);
            want(image, -1);
        }
        tell(image);
        if (g_get_monotonic_time() > end) {
            /* What the library holds already does not make its descriptor readable. */
            if (!more_source) more_source = g_timeout_add(0, more, NULL);
            return G_SOURCE_CONTINUE;
        }
    }
    if (kept.length) take_pressure();
    return G_SOURCE_CONTINUE;
}

gboolean image_is_cached(const char *url, int *width, int *height) {
    cached_image found = CACHED_IMAGE_BRIEFLY;
    if (!is_open() || cached_peek(cache, url, &found) != CACHED_HERE) return FALSE;
    *width = found.width, *height = found.height;
    return TRUE;
}

void image_learn_marks(Image *image) {
    gint64 now = g_get_monotonic_time();
    if (image->state != CACHED_STATE_CACHED || (image->looked_at && now - image->looked_at < G_USEC_PER_SEC)) return;
    image->looked_at = now;
    cached_image found = CACHED_IMAGE_BRIEFLY;
    if (!is_open() || cached_peek(cache, image->url, &found) != CACHED_HERE) return;
    image->fresh_until = found.fresh_until, image->is_pinned = found.pinned;
}

static void peek(Image *image) {
    cached_image found = CACHED_IMAGE_BRIEFLY;
    if (!is_open()) {
        fail(image, CACHED_ERROR_OTHER, "cannot open the cache: too few descriptors or too little memory");
    } else if (cached_peek(cache, image->url, &found) >= 0) {
        /* A daemon that hands its files over need not share its directory. */
        gboolean is_hidden = found.state == CACHED_FAILED && g_strcmp0(found.kind, "invalidURL") != 0;
        if (!is_hidden && (found.state != CACHED_MISSING || image->state != CACHED_STATE_CACHED)) take(image, &found);
        /* A smaller image comes with its original, so that is how far it is. */
        if (image->state == CACHED_STATE_MISSING && image->original &&
            cached_peek(cache, image->original, &found) >= 0 && found.state <= CACHED_IN_FLIGHT)
            take(image, &found);
    }
}

/* MARK: Wants */

static void unqueue(Image *image) {
    if (image->queue) g_queue_unlink(image->queue, &image->change);
    image->queue = NULL;
}

static gboolean flush(gpointer data) {
    (void)data;
    gint64 end = g_get_monotonic_time() + TURN;
    Image *image;
    while ((image = g_queue_peek_head(&urgent)) || (image = g_queue_peek_head(&changes))) {
        unqueue(image);
        int priority = !image->users->len ? -1 : image->is_drawn ? CACHED_VISIBLE : CACHED_BACKGROUND;
        if (image->wanted != -1 && (priority == -1 || image->wanted == -2)) cached_drop(cache, image->url);
        if (priority >= 0 && priority != image->wanted) {
            cached_request request = CACHED_REQUEST_INIT;
            request.url = image->url, request.priority = priority;
            request.headers = (const char *const *)image->headers;
            request.accept = decodable_types();
            int result = cached_add(cache, &request);
            if (result < 0) fail(image, CACHED_ERROR_NO_IMAGE, g_strerror(-result)), tell(image_hold(image)), image->holds--;
        }
        want(image, priority);
        tidy(image);
        if (g_get_monotonic_time() > end && (urgent.length || changes.length)) return G_SOURCE_CONTINUE;
    }
    flush_source = 0;
    return G_SOURCE_REMOVE;
}

static void queue_change(Image *image) {
    if (image->is_fresh) g_queue_unlink(&fresh, &image->fresh), image->is_fresh = FALSE;
    if (image->queue && !image->is_drawn) return;
    unqueue(image);
    image->queue = image->is_drawn ? &urgent : &changes;
    g_queue_push_tail_link(image->queue, &image->change);
    if (!flush_source && cache) flush_source = g_timeout_add(0, flush, NULL);
}

static void census_soon(int milliseconds);

/* What is drawn is wanted as visible, the others that are bound in the background. Ends when nothing is awaited. */
static gboolean census(gpointer data) {
    (void)data;
    census_source = 0;
    gint64 now = g_get_monotonic_time();
    g_autoptr(GPtrArray) unseen = g_ptr_array_new_with_free_func(g_object_unref);
    GHashTableIter each;
    gpointer key;
    g_hash_table_iter_init(&each, awaited);
    while (g_hash_table_iter_next(&each, &key, NULL)) {
        Image *image = key;
        gint64 age = now - image->drawn_at;
        if (age > 2 * CENSUS * 1000) {
            image->is_drawn = FALSE;
            queue_change(image);
            g_hash_table_iter_remove(&each);
        } else if (age > CENSUS * 1000) {
            collect_users(image, unseen);
        }
    }
    invalidate(unseen);

    gint64 end = g_get_monotonic_time() + TURN;
    while (fresh.head) {
        Image *image = fresh.head->data;
        gint64 wait = image->joined_at + CENSUS * 1000 - now;
        if (wait > 0 || g_get_monotonic_time() > end) {
            census_soon(MAX(wait / 1000, 0));
            break;
        }
        image_hold(image);
        queue_change(image);
        g_autoptr(GPtrArray) users = g_ptr_array_new_with_free_func(g_object_unref);
        collect_users(image, users);
        for (guint i = 0; i < users->len; i++) {
            Image *guess = paintable_guess_size(users->pdata[i]);
            if (guess != image && guess->is_fresh) queue_change(guess);
        }
        image_release(image);
    }
    if (g_hash_table_size(awaited)) census_soon(CENSUS);
    return G_SOURCE_REMOVE;
}

static void census_soon(int milliseconds) {
    if (!census_source && cache) census_source = g_timeout_add(milliseconds, census, NULL);
}

/* MARK: Users */

gboolean image_has_picture(const char *url) {
    const Image *image = is_open() ? g_hash_table_lookup(images, url) : NULL;
    return image && image->texture;
}

static Image *image_of(const char *url, const char *original, char **headers) {
    Image *image = g_hash_table_lookup(images, url);
    if (image) return image;
    image = g_new0(Image, 1);
    image->url = g_strdup(url), image->original = g_strdup(original);
    image->headers = g_strdupv(headers);
    image->users = g_ptr_array_new();
    image->fraction = -1, image->wanted = -1;
    image->kept.data = image->fresh.data = image->change.data = image->visible.data = image;
    g_hash_table_insert(images, image->url, image);
    return image;
}

Image *image_join(const char *url, int side, char **headers, CachedPaintable *user) {
    gboolean works = is_open();
    g_autofree char *smaller = side ? g_strdup_printf("%s%cside=%d", url, strchr(url, '#') ? '&' : '#', side) : NULL;
    Image *image = image_of(smaller ? smaller : url, smaller ? url : NULL, headers);
    /* Of one that is wanted the news are newer. */
    if (image->wanted < 0 || !works) peek(image);
    g_ptr_array_add(image->users, user);
    if (image->wanted == -1 && !image->queue && !image->is_fresh && image_is_coming(image)) {
        image->is_fresh = TRUE, image->joined_at = g_get_monotonic_time();
        g_queue_push_tail_link(&fresh, &image->fresh);
        census_soon(CENSUS);
    }
    return image;
}

Image *image_join_stand_in(const Image *image, CachedPaintable *user) {
    cached_image found = CACHED_IMAGE_INIT;
    if (!is_open() || cached_peek(cache, image->url, &found) < 0 || !found.stand_in) return NULL;
    Image *file = image_of(found.stand_in, NULL, NULL);
    file->is_file = TRUE, file->state = CACHED_STATE_CACHED;
    g_ptr_array_add(file->users, user);
    return file;
}

void image_leave(Image *image, CachedPaintable *user) {
    g_ptr_array_remove_fast(image->users, user);
    if (!image->users->len) {
        image->is_drawn = FALSE;
        if (image->job) job_cancel(image->job);
        if (image->wanted >= 0) queue_change(image);
    }
    settle(image);
    tidy(image);
}

Image *image_hold(Image *image) {
    image->holds++;
    return image;
}

void image_release(Image *image) {
    image->holds--;
    tidy(image);
}

/* MARK: Pictures */

/* Whether its picture has the pixels that it needs, or all there are. */
static gboolean is_fine(const Image *image) {
    if (!image->texture || image->texture_identity != image->identity) return FALSE;
    int width = gdk_texture_get_width(image->texture), height = gdk_texture_get_height(image->texture);
    double scale = MAX((double)image->need_width / width, (double)image->need_height / height);
    return scale < 1.02 || (width >= image->width && height >= image->height);
}

static void decode(Image *image) {
    if (!image->job && image->need_width > 0 && !is_fine(image)) image->job = job_start(image);
}

void image_draw(Image *image, int width, int height) {
    image->drawn_at = g_get_monotonic_time();
    if (!image->texture) image->need_width = image->need_height = 0;
    image->need_width = MAX(image->need_width, width), image->need_height = MAX(image->need_height, height);
    if (image->state == CACHED_STATE_CACHED) decode(image);
    if (image->is_file) return;
    image->is_drawn = TRUE;
    /* A picture that is shown stays, whatever becomes of its file. */
    gboolean is_lost = image->texture && image->state == CACHED_STATE_MISSING;
    gboolean is_late = image->wanted < 0 || (image->wanted != CACHED_VISIBLE && image_is_coming(image));
    if (is_late && !is_lost && image->queue != &urgent) queue_change(image);
    if (image_is_coming(image)) settle(image), census_soon(CENSUS);
}

void image_decoded(Image *image, GdkTexture *texture, uint64_t identity, int width, int height, const GError *error) {
    image->job = NULL;
    if (texture) {
        if (image->is_kept) give_up(image_hold(image)), image->holds--;
        g_set_weak_pointer(&image->texture, texture);
        image->texture_identity = identity;
        image->width = width, image->height = height;
        image->losses = 0;
        if (image->state == CACHED_STATE_FAILED) image->state = CACHED_STATE_CACHED, g_clear_error(&image->error);
        keep(image);
        shrink(MAX(limit, cost(texture)));
        take_pressure();
        if (image->users->len && image->is_drawn) decode(image); /* It can be needed larger meanwhile. */
    } else if (!error) { /* Cancelled, and perhaps wanted again since. */
        if (image->users->len && image->is_drawn && image->state == CACHED_STATE_CACHED) decode(image);
    } else if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT) && ++image->losses <= LOSSES) {
        /* Evicted in between. The daemon gets it anew if it is wanted anew. */
        image->state = CACHED_STATE_MISSING, image->received = 0, image->phase = CACHED_NO_PHASE;
        if (image->wanted >= 0) want(image, -2);
        if (image->users->len && !image->is_file) queue_change(image);
    } else {
        fail(image, CACHED_ERROR_UNDECODABLE, error->message);
    }
    tell(image);
}

/* MARK: Another attempt */

typedef struct {
    char *url, **headers;
} Attempt;

static void attempt_free(gpointer data) {
    Attempt *attempt = data;
    g_free(attempt->url), g_strfreev(attempt->headers);
    g_free(attempt);
}

/* In a thread, with a handle of its own, since it waits. */
static void refresh(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
    (void)source, (void)cancellable;
    Attempt *attempt = data;
    cached *own = cached_open(NULL, NULL);
    if (own) {
        cached_request request = CACHED_REQUEST_INIT;
        request.url = attempt->url, request.priority = CACHED_VISIBLE;
        request.headers = (const char *const *)attempt->headers;
        cached_image found = CACHED_IMAGE_INIT;
        cached_refresh(own, &request, 60 * 1000, &found);
        cached_close(own);
    }
    g_task_return_boolean(task, TRUE);
}

/* The news of the attempt came as those of any download. One that is decided is told again if it is wanted again. */
static void refreshed(GObject *source, GAsyncResult *result, gpointer data) {
    (void)source, (void)result;
    Image *image = data;
    if (image_is_coming(image)) {
        if (image->wanted >= 0) want(image, -2);
        if (image->users->len) queue_change(image);
    }
    image_release(image);
}

void image_retry(Image *image) {
    if (image->state != CACHED_STATE_FAILED || !is_open()) return;
    Attempt *attempt = g_new0(Attempt, 1);
    attempt->url = g_strdup(image->url), attempt->headers = g_strdupv(image->headers);
    g_autoptr(GTask) task = g_task_new(NULL, NULL, refreshed, image_hold(image));
    g_task_set_task_data(task, attempt, attempt_free);
    image->state = CACHED_STATE_MISSING, image->phase = CACHED_NO_PHASE;
    image->received = 0, image->fraction = -1, image->losses = 0;
    g_clear_error(&image->error);
    g_task_run_in_thread(task, refresh);
    tell(image);
}
