#include "images.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

/* A file of some kilobytes can claim to be gigantic. Strangers made it, so there is a limit, in pixels. */
enum { LARGEST = 100000000 };

struct Job {
    Image *image; /* Held, and used by the main thread alone. */
    char *url;
    int need_width, need_height, width, height;
    guint64 number;
    gboolean is_file;
    int is_cancelled; /* Atomic. */
    gboolean is_too_large;
    GdkTexture *texture;
    uint64_t identity; /* Of the file at the start. If there is a newer one, its news makes another job. */
    GError *error;
};

static gboolean finish(gpointer data) {
    Job *job = data;
    /* A picture that is done is kept even if nobody waits for it any more. */
    image_decoded(job->image, job->texture, job->identity, job->width, job->height, job->error);
    image_release(job->image);
    g_clear_object(&job->texture);
    g_clear_error(&job->error);
    g_free(job->url);
    g_free(job);
    return G_SOURCE_REMOVE;
}

/* As large as it has to be to fill the pixels that it needs, and never larger than it is. */
static void prepare(GdkPixbufLoader *loader, int width, int height, Job *job) {
    if ((gint64)width * height > LARGEST) {
        job->is_too_large = TRUE;
        gdk_pixbuf_loader_set_size(loader, 0, 0); /* The loaders take that for an error before they allocate. */
        return;
    }
    /* Exif can turn it. The daemon knows the size that is shown. */
    gboolean is_turned = width != height && job->width == height && job->height == width;
    double scale = is_turned ? MAX((double)job->need_width / height, (double)job->need_height / width)
                             : MAX((double)job->need_width / width, (double)job->need_height / height);
    job->width = is_turned ? height : width, job->height = is_turned ? width : height;
    if (scale < 1) gdk_pixbuf_loader_set_size(loader, MAX(1, (int)round(width * scale)), MAX(1, (int)round(height * scale)));
}

/* In the format of the renderers, so that no frame has to convert it. */
static GdkTexture *make_texture(GdkPixbuf *pixbuf) {
    g_autoptr(GdkPixbuf) upright = gdk_pixbuf_apply_embedded_orientation(pixbuf);
    int width = gdk_pixbuf_get_width(upright), height = gdk_pixbuf_get_height(upright);
    g_autoptr(GBytes) pixels = gdk_pixbuf_read_pixel_bytes(upright);
    g_autoptr(GdkTexture) plain = gdk_memory_texture_new(
        width, height, gdk_pixbuf_get_has_alpha(upright) ? GDK_MEMORY_R8G8B8A8 : GDK_MEMORY_R8G8B8, pixels,
        gdk_pixbuf_get_rowstride(upright));
    gsize stride = (gsize)4 * width;
    guchar *data = g_malloc(stride * height);
    gdk_texture_download(plain, data, stride);
    g_autoptr(GBytes) converted = g_bytes_new_take(data, stride * height);
    return gdk_memory_texture_new(width, height, GDK_MEMORY_DEFAULT, converted, stride);
}

static void decode(Job *job, int file) {
    g_autoptr(GdkPixbufLoader) loader = gdk_pixbuf_loader_new();
    g_signal_connect(loader, "size-prepared", G_CALLBACK(prepare), job);
    static const gsize room = 64 << 10;
    g_autofree guchar *buffer = g_malloc(room);
    g_autoptr(GError) error = NULL;
    gboolean works = TRUE;
    ssize_t count;
    while (works && (count = read(file, buffer, room)) != 0) {
        if (count > 0) works = gdk_pixbuf_loader_write(loader, buffer, count, &error);
        else if (errno != EINTR) {
            works = FALSE;
            error = g_error_new(G_FILE_ERROR, G_FILE_ERROR_IO, "cannot read the file: %s", g_strerror(errno));
        }
        if (g_atomic_int_get(&job->is_cancelled)) works = FALSE;
    }
    works = gdk_pixbuf_loader_close(loader, works ? &error : NULL) && works;
    GdkPixbuf *pixbuf = works ? gdk_pixbuf_loader_get_pixbuf(loader) : NULL;
    if (pixbuf) job->texture = make_texture(pixbuf);
    else if (job->is_too_large)
        job->error = g_error_new_literal(CACHED_ERROR, CACHED_ERROR_UNDECODABLE,
                                         "the image has more than 100 million pixels; ask for a smaller one by #side=2048");
    else if (!g_atomic_int_get(&job->is_cancelled))
        job->error = g_error_new(CACHED_ERROR, CACHED_ERROR_UNDECODABLE, "this program cannot decode the image: %s",
                                 error ? error->message : "it has no picture");
}

/* A handle of its own: one serves one thread. It waits for a file that only the daemon can open. */
static int open_image(const char *url) {
    cached *cache = cached_open(NULL, NULL);
    int file = cache ? cached_open_file(cache, url) : -EMFILE;
    cached_close(cache);
    return file;
}

static void run(gpointer data, gpointer unused) {
    (void)unused;
    Job *job = data;
    if (!g_atomic_int_get(&job->is_cancelled)) {
        int file = job->is_file ? open(job->url, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : open_image(job->url);
        if (job->is_file && file < 0) file = -errno;
        if (file >= 0) {
            decode(job, file);
            close(file);
        } else {
            job->error = g_error_new(G_FILE_ERROR, g_file_error_from_errno(-file), "cannot open the cached image: %s",
                                     g_strerror(-file));
        }
    }
    /* Before the next frame: an idle source waits for as long as something is animated. */
    g_idle_add_full(G_PRIORITY_DEFAULT, finish, job, NULL);
}

/* The newest first: that is what someone looks at. */
static int compare(gconstpointer a, gconstpointer b, gpointer unused) {
    (void)unused;
    guint64 first = ((const Job *)a)->number, second = ((const Job *)b)->number;
    return first < second ? 1 : first > second ? -1 : 0;
}

Job *job_start(Image *image) {
    static GThreadPool *threads;
    static guint64 count;
    if (!threads) {
        threads = g_thread_pool_new(run, NULL, CLAMP((int)g_get_num_processors(), 1, 4), FALSE, NULL);
        g_thread_pool_set_sort_function(threads, compare, NULL);
    }
    Job *job = g_new0(Job, 1);
    job->image = image_hold(image);
    job->url = g_strdup(image->url), job->is_file = image->is_file;
    job->need_width = image->need_width, job->need_height = image->need_height;
    job->width = image->width, job->height = image->height;
    job->number = count++;
    job->identity = image->identity;
    g_thread_pool_push(threads, job, NULL);
    return job;
}

const char *decodable_types(void) {
    static char *types;
    if (types) return types;
    GString *text = g_string_new(NULL);
    g_autoptr(GSList) formats = gdk_pixbuf_get_formats();
    for (GSList *each = formats; each; each = each->next) {
        g_auto(GStrv) names = gdk_pixbuf_format_get_mime_types(each->data);
        g_autofree char *list = g_strjoinv(",", names);
        g_string_append_printf(text, "%s%s", text->len ? "," : "", list);
    }
    return types = g_string_free(text, FALSE);
}

void job_cancel(Job *job) { g_atomic_int_set(&job->is_cancelled, TRUE); }
