// How cached-gtk draws the states of images, measured in the pixels of what it draws.

#include "cached-gtk-driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 160, HEIGHT = 120, POINTS = 240 };
// A third of a pixel more or less does not matter.
static const double RADIUS = HEIGHT * .17;

typedef struct {
    unsigned char pixels[HEIGHT][WIDTH][4];
} Frame;

// On white, as GTK does it.
static void render(CachedPaintable *paintable, Frame *frame) {
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(GDK_PAINTABLE(paintable), snapshot, WIDTH, HEIGHT);
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    cairo_surface_t *surface =
        cairo_image_surface_create_for_data(frame->pixels[0][0], CAIRO_FORMAT_RGB24, WIDTH, HEIGHT, 4 * WIDTH);
    cairo_t *context = cairo_create(surface);
    cairo_set_source_rgb(context, 1, 1, 1);
    cairo_paint(context);
    if (node) gsk_render_node_draw(node, context), gsk_render_node_unref(node);
    cairo_destroy(context);
    cairo_surface_destroy(surface);
}

// The darkest of the three colours.
static int darkness(const Frame *frame, int x, int y) {
    const unsigned char *pixel = frame->pixels[y][x];
    return 255 - MIN(MIN(pixel[0], pixel[1]), pixel[2]);
}

// What is drawn on the ring, at points along it: 2 where it is filled, 1 where it is empty, 0 where it is not.
static void look_at_ring(const Frame *frame, int *points) {
    for (int i = 0; i < POINTS; i++) {
        double angle = (i + .5) / POINTS * 2 * G_PI;
        int found = darkness(frame, WIDTH / 2 + RADIUS * sin(angle), HEIGHT / 2 - RADIUS * cos(angle));
        points[i] = found > 85 ? 2 : found > 40 ? 1 : 0;
    }
}

static gboolean has_text(const Frame *frame) {
    int count = 0;
    for (int y = -8; y <= 8; y++)
        for (int x = -10; x <= 10; x++) count += darkness(frame, WIDTH / 2 + x, HEIGHT / 2 + y) > 75;
    return count > 8;
}

static gboolean is_lit(const Frame *first, const Frame *other) {
    for (int x = 8; x < WIDTH; x += 12)
        for (int y = 8; y < HEIGHT; y += HEIGHT - 17)
            if (abs(darkness(first, x, y) - darkness(other, x, y)) > 8) return TRUE;
    return FALSE;
}

// The marks along the upper edge, each as a number that is the same for the same drawing.
static void print_marks(const Frame *frame) {
    for (int i = 0; i < 4; i++) {
        int left = 4 + 22 * i, dark = 0;
        guint32 sum = 0;
        for (int y = 4; y < 22; y++) {
            for (int x = left; x < left + 18; x++) {
                dark += darkness(frame, x, y) > 170;
                sum = 31 * sum + darkness(frame, x, y);
            }
        }
        if (dark > 50) printf(" %u", sum);
    }
}

// Draws it until the light has passed it once, unless that is seen before.
static void measure(CachedPaintable *paintable, const char *name) {
    static Frame first, now;
    int before[POINTS], points[POINTS];
    // A ring grows to its share, and a picture fades in.
    for (int i = 0; i < 40; i++) {
        run_for(8);
        render(paintable, &first);
    }
    look_at_ring(&first, before);
    gboolean has_picture = cached_paintable_get_texture(paintable) != NULL, shimmers = FALSE;
    int turned = 0;
    for (int i = 0; i < 24 && !has_picture && !(shimmers && turned > 20); i++) {
        run_for(70);
        render(paintable, &now);
        shimmers = shimmers || is_lit(&first, &now);
        look_at_ring(&now, points);
        int differing = 0;
        for (int k = 0; k < POINTS; k++) differing += (points[k] == 2) != (before[k] == 2);
        turned = MAX(turned, differing);
    }
    int filled = 0, empty = 0, runs = 0;
    for (int i = 0; i < POINTS; i++) {
        filled += before[i] == 2, empty += before[i] == 1;
        runs += before[i] == 2 && before[(i + POINTS - 1) % POINTS] != 2;
    }
    if (filled == POINTS) runs = 1;
    printf("face %s %d %d %d %d %d %d %d", name, runs, 100 * filled / POINTS, 100 * empty / POINTS, has_text(&first),
           shimmers, turned > 20, first.pixels[HEIGHT - 9][WIDTH / 2][0]);
    print_marks(&first);
    printf("\n");
    fflush(stdout);
}

static gboolean is_described(CachedPaintable *paintable, const char *text) {
    g_autofree char *found = cached_paintable_get_description(paintable);
    gboolean is_here = cached_paintable_get_state(paintable) == CACHED_STATE_CACHED;
    return strcmp(found, text) == 0 && (!is_here || cached_paintable_get_texture(paintable));
}

static void wait_for(CachedPaintable *paintable, const char *text) {
    static Frame frame;
    gint64 end = g_get_monotonic_time() + 30 * G_USEC_PER_SEC;
    while (!is_described(paintable, text) && g_get_monotonic_time() < end) {
        render(paintable, &frame);
        run_for(5);
    }
    check(is_described(paintable, text), text);
}

void faces(char **words, int count) {
    gboolean moves = strcmp(words[0], "moving") == 0;
    g_object_set(gtk_settings_get_default(), "gtk-enable-animations", moves, NULL);
    cached_gtk_set_marks(TRUE);
    for (int i = 1; i + 1 < count; i += 2) {
        CachedPaintable *paintable = cached_paintable_new(words[i]);
        wait_for(paintable, words[i + 1]);
        measure(paintable, words[i]);
        g_object_unref(paintable);
    }
}

void gone(char **words) {
    CachedPaintable *paintable = cached_paintable_new(words[1]);
    wait_for(paintable, "photo.png");
    for (int marks = 0; marks <= 1; marks++) {
        cached_gtk_set_marks(marks);
        measure(paintable, "here");
    }
    const char *command[] = {words[0], "remove", words[1], NULL};
    check(g_spawn_sync(NULL, (char **)command, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, NULL, NULL), "removed");
    wait_for(paintable, "photo.png, no longer cached");
    for (int marks = 0; marks <= 1; marks++) {
        cached_gtk_set_marks(marks);
        measure(paintable, "gone");
    }
    g_object_unref(paintable);
}
