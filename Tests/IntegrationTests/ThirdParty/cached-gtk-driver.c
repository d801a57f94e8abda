// A program over cached-gtk: cached-gtk-driver CASE URL…, on a display. Prints a line for each thing that is so, and ends
// with 1 at the first that is not so after 30 seconds.
//
//     states HERE SLOW FAILING      ends paintables in each of their states; SLOW stays in flight, FAILING fails
//     sharing HERE OTHER            textures of the same image, their sizes and their memory
//     fits PORTRAIT ICON            the places of pictures in widgets
//     stand-in URL                  a smaller image that is shown while URL is coming
//     undecodable URL               an image without a loader
//     pressure PROGRAM HERE OTHER   what is drawn when PROGRAM, a cachectl, reports pressure
//     hostile URL…                  a daemon that answers nonsense
//     faces MOTION (URL DESCRIPTION)…   how images are drawn that come to be described so; MOTION: moving or still
//     gone PROGRAM HERE             how a picture is drawn whose image PROGRAM, a cachectl, has removed
//     rest HERE                     how often the main loop wakes while nothing moves
//     unrun HERE SLOW               makes, draws and ends paintables without ever running the main loop
//     closed HERE SLOW              closes the display under widgets
//     many COUNT BASE               the longest turn of the main loop while COUNT images are wanted
//     scroll COUNT BASE SECONDS     the time until all visible images of a grid are there, its frames and its memory

#include "cached-gtk-driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static gboolean tick(gpointer data) {
    (void)data;
    return G_SOURCE_CONTINUE;
}

void run_for(int milliseconds) {
    gint64 end = g_get_monotonic_time() + 1000 * milliseconds;
    guint source = g_timeout_add(5, tick, NULL);
    while (g_get_monotonic_time() < end) g_main_context_iteration(NULL, TRUE);
    g_source_remove(source);
}

static void draw(CachedPaintable *paintable, double width, double height) {
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(GDK_PAINTABLE(paintable), snapshot, width, height);
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    if (node) gsk_render_node_unref(node);
}

static gboolean draw_now(gpointer paintable) {
    draw(paintable, 160, 120);
    return G_SOURCE_REMOVE;
}

// As the frame clock of a widget does.
static void draw_soon(CachedPaintable *paintable) {
    g_timeout_add_full(G_PRIORITY_DEFAULT, 16, draw_now, g_object_ref(paintable), g_object_unref);
}

void check(gboolean is_so, const char *what) {
    printf("%s %s\n", is_so ? "ok" : "WRONG", what);
    fflush(stdout);
    if (!is_so) exit(1);
}

typedef gboolean Condition(CachedPaintable *);

static gboolean is_in_flight(CachedPaintable *p) { return cached_paintable_get_state(p) == CACHED_STATE_IN_FLIGHT; }
static gboolean is_half(CachedPaintable *p) { return is_in_flight(p) && cached_paintable_get_fraction(p) > 0; }
static gboolean is_cached(CachedPaintable *p) { return cached_paintable_get_state(p) == CACHED_STATE_CACHED; }
static gboolean is_shown(CachedPaintable *p) { return cached_paintable_get_texture(p) != NULL; }
static gboolean is_failed(CachedPaintable *p) { return cached_paintable_get_error(p) != NULL; }
static gboolean is_anything(CachedPaintable *p) {
    (void)p;
    return TRUE;
}

// Draws it until something is so.
static void wait_until(CachedPaintable *paintable, double width, double height, Condition *condition, const char *what) {
    gint64 end = g_get_monotonic_time() + 30 * G_USEC_PER_SEC;
    guint source = g_timeout_add(5, tick, NULL);
    gboolean is_so;
    do {
        if (width > 0) draw(paintable, width, height);
        is_so = condition(paintable);
        if (!is_so) g_main_context_iteration(NULL, TRUE);
    } while (!is_so && g_get_monotonic_time() < end);
    g_source_remove(source);
    check(is_so, what);
}

// MARK: The cases

static void end_it(CachedPaintable *paintable) {
    g_signal_handlers_disconnect_by_func(paintable, G_CALLBACK(end_it), NULL);
    g_object_unref(paintable);
}

static void states(char **urls) {
    static const struct {
        int url;
        Condition *condition;
        const char *name;
    } cases[] = {
        {0, is_anything, "new"}, {1, is_in_flight, "in flight"}, {1, is_half, "with a ring"},
        {0, is_cached, "cached"}, {0, is_shown, "shown"}, {2, is_failed, "failed"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        for (int drawn = 0; drawn <= 1; drawn++) {
            if (!drawn && cases[i].condition == is_shown) continue; // Nobody looks at it.
            CachedPaintable *paintable = cached_paintable_new(urls[cases[i].url]);
            wait_until(paintable, drawn ? 160 : 0, 120, cases[i].condition, cases[i].name);
            g_object_unref(paintable);
            run_for(30);
        }
    }
    // While it is decoded, in a size that nobody had.
    for (int size = 40; size < 60; size++) {
        CachedPaintable *paintable = cached_paintable_new(urls[0]);
        draw(paintable, size, size);
        g_object_unref(paintable);
    }
    run_for(50);
    check(TRUE, "being decoded");
    // While it asks again, and with another that asks too.
    for (int i = 0; i < 2; i++) {
        CachedPaintable *paintable = cached_paintable_new(urls[2]), *other = cached_paintable_new(urls[2]);
        wait_until(paintable, 160, 120, is_failed, "failed before another attempt");
        cached_paintable_retry(paintable);
        check(cached_paintable_get_error(paintable) == NULL, "no error while it asks again");
        if (i == 1) wait_until(paintable, 160, 120, is_failed, "failed again");
        g_object_unref(paintable);
        g_object_unref(other);
        run_for(30);
    }
    // By the one who hears of its state.
    for (int i = 0; i < 3; i++) {
        CachedPaintable *paintable = cached_paintable_new(urls[i]), *other = cached_paintable_new(urls[i]);
        gpointer weak = paintable;
        g_object_add_weak_pointer(G_OBJECT(paintable), &weak);
        g_signal_connect(paintable, "notify", G_CALLBACK(end_it), NULL);
        cached_gtk_set_memory_limit(0);
        draw(paintable, 70 + i, 70 + i);
        for (int k = 0; weak && k < 400; k++) run_for(5);
        if (weak) g_object_unref(weak), weak = NULL;
        g_object_unref(other);
    }
    cached_gtk_set_memory_limit(64 << 20);
    CachedPaintable *none = cached_paintable_new(NULL), *odd = cached_paintable_new("no URL");
    draw(none, 160, 120);
    wait_until(odd, 160, 120, is_failed, "a URL that is none");
    check(g_error_matches(cached_paintable_get_error(odd), CACHED_ERROR, CACHED_ERROR_NO_IMAGE), "its error");
    g_autofree char *description = cached_paintable_get_description(odd);
    check(g_str_has_prefix(description, "no URL: "), "its description");
    g_object_unref(none);
    g_object_unref(odd);
}

static void sharing(char **urls) {
    CachedPaintable *first = cached_paintable_new(urls[0]), *second = cached_paintable_new(urls[0]);
    wait_until(first, 160, 120, is_shown, "the first picture");
    draw(second, 160, 120);
    GdkTexture *texture = cached_paintable_get_texture(first);
    check(texture == cached_paintable_get_texture(second), "one texture");
    int width = gdk_texture_get_width(texture), height = gdk_texture_get_height(texture);
    check(width >= 160 && width <= 256 && height >= 120, "of the size in which it is drawn");
    check(cached_gtk_get_memory_used() == (gsize)4 * width * height, "and its memory");
    check(gdk_paintable_get_intrinsic_width(GDK_PAINTABLE(first)) >= width, "the size of the image");
    // Larger: the small one is shown until the large one is there.
    gint64 end = g_get_monotonic_time() + 30 * G_USEC_PER_SEC;
    int found = 0;
    while (found < 600 && g_get_monotonic_time() < end) {
        draw(first, 600, 450);
        run_for(5);
        texture = cached_paintable_get_texture(first);
        found = texture ? gdk_texture_get_width(texture) : 0;
    }
    check(found >= 600 && found <= 1024, "a larger texture");
    // The memory is bounded. What a widget holds stays.
    g_object_ref(texture);
    cached_gtk_set_memory_limit(0);
    check(cached_gtk_get_memory_used() == 0, "no memory");
    check(cached_paintable_get_texture(first) == texture, "what is held is not lost");
    g_object_unref(texture);
    check(cached_paintable_get_texture(first) == NULL, "what is not held is");
    cached_gtk_set_memory_limit(64 << 20);
    wait_until(first, 600, 450, is_shown, "decoded again");
    g_object_unref(second);
    g_object_unref(first);
    check(cached_gtk_get_memory_used() > 0, "kept for the next one");
    CachedPaintable *third = cached_paintable_new(urls[0]);
    draw(third, 600, 450);
    check(is_shown(third), "which shows it in its first frame");
    g_object_unref(third);
}

static graphene_rect_t texture_bounds(GskRenderNode *node);

static gboolean has_stand_in(CachedPaintable *paintable) {
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(GDK_PAINTABLE(paintable), snapshot, 160, 120);
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    gboolean is_drawn = node && texture_bounds(node).size.width == 160;
    if (node) gsk_render_node_unref(node);
    return is_drawn && !is_shown(paintable);
}

static void stand_in(char **urls) {
    CachedPaintable *paintable = cached_paintable_new(urls[0]), *other = cached_paintable_new(urls[0]);
    wait_until(paintable, 160, 120, has_stand_in, "a smaller image stands in");
    check(!is_cached(paintable), "for one that is coming");
    g_object_unref(paintable); // With its stand-in, and another while that is decoded.
    draw(other, 40, 30);
    g_object_unref(other);
    run_for(100);
}

static void undecodable(char **urls) {
    CachedPaintable *paintable = cached_paintable_new(urls[0]);
    wait_until(paintable, 160, 120, is_failed, "a type without a loader");
    const GError *error = cached_paintable_get_error(paintable);
    check(g_error_matches(error, CACHED_ERROR, CACHED_ERROR_UNDECODABLE), "its error");
    printf("%s\n", error->message);
    g_object_unref(paintable);
}

// A picture that is about to be drawn, whose texture nobody else holds, and one that is not drawn any more.
static void relieve(char **words) {
    CachedPaintable *seen = cached_paintable_new(words[1]), *other = cached_paintable_new(words[2]);
    gulong handler = g_signal_connect(seen, "invalidate-contents", G_CALLBACK(draw_soon), NULL);
    wait_until(seen, 160, 120, is_shown, "the picture on the screen");
    wait_until(other, 160, 120, is_shown, "the other picture");
    run_for(50);
    const char *command[] = {words[0], "pressure", "critical", NULL};
    check(g_spawn_sync(NULL, (char **)command, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, NULL, NULL), "pressure");
    gint64 end = g_get_monotonic_time() + 30 * G_USEC_PER_SEC;
    while (is_shown(other) && g_get_monotonic_time() < end) {
        run_for(5);
        if (!is_shown(seen)) break;
    }
    check(is_shown(seen), "what is to be drawn stays");
    check(!is_shown(other), "and all else is given back");
    g_signal_handler_disconnect(seen, handler);
    g_object_unref(seen);
    g_object_unref(other);
}

static void hostile(char **urls, int count) {
    CachedPaintable *paintables[64];
    for (int i = 0; i < count && i < 64; i++) paintables[i] = cached_paintable_new(urls[i]);
    for (int turn = 0; turn < 200; turn++) {
        for (int i = 0; i < count && i < 64; i++) {
            draw(paintables[i], 160 + turn % 2 * 200, 120);
            if (is_shown(paintables[i])) check(FALSE, "no picture");
            if (turn % 50 == 49) cached_paintable_retry(paintables[i]);
        }
        run_for(5);
    }
    for (int i = 0; i < count && i < 64; i++) g_object_unref(paintables[i]);
    check(TRUE, "with a hostile daemon");
}

static CachedPaintable *paintable_of(GtkWidget *picture) { return cached_picture_get_paintable(CACHED_PICTURE(picture)); }

static GtkWidget *show(GtkWidget *child, int width, int height) {
    GtkWidget *window = gtk_window_new();
    gtk_window_set_default_size(GTK_WINDOW(window), width, height);
    gtk_window_set_child(GTK_WINDOW(window), child);
    gtk_window_present(GTK_WINDOW(window));
    return window;
}

// The place of the picture in what a widget draws.
static graphene_rect_t texture_bounds(GskRenderNode *node) {
    graphene_rect_t bounds = GRAPHENE_RECT_INIT(0, 0, 0, 0);
    switch (gsk_render_node_get_node_type(node)) {
    case GSK_TEXTURE_NODE: gsk_render_node_get_bounds(node, &bounds); break;
    case GSK_CLIP_NODE: return texture_bounds(gsk_clip_node_get_child(node));
    case GSK_ROUNDED_CLIP_NODE: return texture_bounds(gsk_rounded_clip_node_get_child(node));
    case GSK_OPACITY_NODE: return texture_bounds(gsk_opacity_node_get_child(node));
    case GSK_CONTAINER_NODE:
        for (guint i = 0; i < gsk_container_node_get_n_children(node) && bounds.size.width == 0; i++)
            bounds = texture_bounds(gsk_container_node_get_child(node, i));
        break;
    default: break;
    }
    return bounds;
}

static void check_place(GtkWidget *picture, CachedFit fit, float width, float height, const char *what) {
    cached_picture_set_fit(CACHED_PICTURE(picture), fit);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    GTK_WIDGET_GET_CLASS(picture)->snapshot(picture, snapshot);
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    graphene_rect_t bounds = node ? texture_bounds(node) : GRAPHENE_RECT_INIT(0, 0, 0, 0);
    gboolean is_so = fabsf(bounds.size.width - width) < 1 && fabsf(bounds.size.height - height) < 1 &&
                     fabsf(bounds.origin.x + width / 2 - 100) < 1 && fabsf(bounds.origin.y + height / 2 - 50) < 1;
    if (!is_so) printf("%g x %g at %g, %g\n", bounds.size.width, bounds.size.height, bounds.origin.x, bounds.origin.y);
    check(is_so, what);
    if (node) gsk_render_node_unref(node);
}

static void check_name(GtkWidget *picture, const char *name, const char *what) {
    g_autofree char *difference =
        gtk_test_accessible_check_property(GTK_ACCESSIBLE(picture), GTK_ACCESSIBLE_PROPERTY_LABEL, name);
    if (difference) printf("%s\n", difference);
    check(difference == NULL && gtk_test_accessible_has_role(GTK_ACCESSIBLE(picture), GTK_ACCESSIBLE_ROLE_IMG), what);
}

static void fits(char **urls) {
    GtkWidget *box = gtk_fixed_new(), *pictures[2];
    for (int i = 0; i < 2; i++) {
        pictures[i] = cached_picture_new(urls[i]);
        gtk_widget_set_size_request(pictures[i], 200, 100);
        gtk_fixed_put(GTK_FIXED(box), pictures[i], 0, 120 * i);
    }
    GtkWidget *window = show(box, 300, 300);
    for (int i = 0; i < 2; i++) wait_until(paintable_of(pictures[i]), 0, 0, is_shown, urls[i]);
    run_for(300);
    // 480 x 640 in a widget that takes its natural size, in the fixed one 200 x 100.
    int minimum, natural;
    gtk_widget_measure(pictures[0], GTK_ORIENTATION_HORIZONTAL, -1, &minimum, &natural, NULL, NULL);
    check(minimum == 200 && natural == 480, "the size of a portrait");
    gtk_widget_measure(pictures[0], GTK_ORIENTATION_VERTICAL, 240, &minimum, &natural, NULL, NULL);
    check(minimum == 100 && natural == 320, "its height for a width");
    gtk_widget_size_allocate(pictures[0], &(GtkAllocation){0, 0, 200, 100}, -1);
    gtk_widget_size_allocate(pictures[1], &(GtkAllocation){0, 0, 200, 100}, -1);
    check_place(pictures[0], CACHED_FIT_COVER, 200, 266.7f, "a portrait covers");
    check_place(pictures[0], CACHED_FIT_CONTAIN, 75, 100, "a portrait is contained");
    check_place(pictures[0], CACHED_FIT_FILL, 200, 100, "a portrait is stretched");
    check_place(pictures[1], CACHED_FIT_COVER, 32, 32, "an icon is not enlarged");
    cached_picture_set_enlarge(CACHED_PICTURE(pictures[1]), TRUE);
    check_place(pictures[1], CACHED_FIT_CONTAIN, 100, 100, "unless it is to be");
    check_name(pictures[1], "icon.png", "the name of the file is the name of the picture");
    cached_picture_set_alternative_text(CACHED_PICTURE(pictures[1]), "A cat");
    check_name(pictures[1], "A cat", "unless there is another one");
    gtk_window_destroy(GTK_WINDOW(window));
}

static int wakeups;
static int count_poll(GPollFD *descriptors, guint count, int timeout) {
    int result = g_poll(descriptors, count, timeout);
    wakeups++;
    return result;
}

static gboolean stop(gpointer data) {
    *(gboolean *)data = TRUE;
    return G_SOURCE_REMOVE;
}

static void rest(char **urls) {
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 8), *picture = cached_picture_new(urls[0]);
    GtkWidget *other = gtk_picture_new_for_paintable(GDK_PAINTABLE(cached_paintable_new(urls[0])));
    gtk_widget_set_vexpand(picture, TRUE), gtk_widget_set_vexpand(other, TRUE);
    gtk_box_append(GTK_BOX(box), picture), gtk_box_append(GTK_BOX(box), other);
    show(box, 300, 300);
    wait_until(paintable_of(picture), 0, 0, is_shown, "the picture");
    run_for(1500); // GTK itself is busy for a moment after a window has opened.
    gboolean is_over = FALSE;
    g_main_context_set_poll_func(NULL, count_poll);
    g_timeout_add(2000, stop, &is_over);
    wakeups = 0;
    while (!is_over) g_main_context_iteration(NULL, TRUE);
    printf("%d wake-ups in 2 s, one of them to end the measurement\n", wakeups);
    check(wakeups <= 1, "no wake-up while nothing moves");
    g_main_context_set_poll_func(NULL, NULL);
}

static void unrun(char **urls) {
    for (int i = 0; i < 200; i++) {
        CachedPaintable *paintable = cached_paintable_new(urls[i % 2]);
        draw(paintable, 160 + i, 120);
        if (i % 3) g_object_unref(paintable);
    }
    g_usleep(300000); // What the threads have made meanwhile waits for a loop that never runs.
    check(TRUE, "without a main loop");
}

static void closed(char **urls) {
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    CachedPaintable *own = cached_paintable_new(urls[1]);
    for (int i = 0; i < 2; i++) {
        GtkWidget *picture = cached_picture_new(urls[i]);
        gtk_widget_set_hexpand(picture, TRUE);
        gtk_box_append(GTK_BOX(box), picture);
    }
    GtkWidget *window = show(box, 300, 300);
    run_for(200);
    gtk_window_destroy(GTK_WINDOW(window));
    gdk_display_close(gdk_display_get_default());
    run_for(200);
    draw(own, 160, 120);
    g_object_unref(own);
    check(TRUE, "with a closed display");
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void many(int count, const char *base) {
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_object_unref);
    double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < count; i++) {
        g_autofree char *url = g_strdup_printf("%s%d.png", base, i);
        g_ptr_array_add(all, cached_paintable_new(url));
    }
    printf("%.1f us for each of %d\n", (seconds(CLOCK_THREAD_CPUTIME_ID) - start) / count * 1e6, count);
    double longest = 0, end = seconds(CLOCK_MONOTONIC) + 3;
    guint source = g_timeout_add(5, tick, NULL);
    while (seconds(CLOCK_MONOTONIC) < end) {
        start = seconds(CLOCK_THREAD_CPUTIME_ID);
        g_main_context_iteration(NULL, TRUE);
        longest = MAX(longest, seconds(CLOCK_THREAD_CPUTIME_ID) - start);
    }
    g_source_remove(source);
    printf("%.1f ms at most in a turn of the main loop\n", longest * 1e3);
    g_ptr_array_set_size(all, 0);
    run_for(100);
    check(TRUE, "many");
}

// MARK: A grid

static void set_up(GtkSignalListItemFactory *factory, GtkListItem *item) {
    (void)factory;
    GtkWidget *picture = cached_picture_new(NULL);
    gtk_widget_set_size_request(picture, 160, 120);
    gtk_list_item_set_child(item, picture);
}

static GHashTable *bound;
static int bound_most;
static double bind_time;
static guint bind_count;

static void bind(GtkSignalListItemFactory *factory, GtkListItem *item) {
    (void)factory;
    GtkWidget *picture = gtk_list_item_get_child(item);
    const char *url = gtk_string_object_get_string(gtk_list_item_get_item(item));
    double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    cached_picture_set_url(CACHED_PICTURE(picture), url);
    bind_time += seconds(CLOCK_THREAD_CPUTIME_ID) - start, bind_count++;
    g_hash_table_add(bound, picture);
    bound_most = MAX(bound_most, (int)g_hash_table_size(bound));
}

static void unbind(GtkSignalListItemFactory *factory, GtkListItem *item) {
    (void)factory;
    g_hash_table_remove(bound, gtk_list_item_get_child(item));
    cached_picture_set_url(CACHED_PICTURE(gtk_list_item_get_child(item)), NULL);
}

// Of each frame: the time on the processor, which another load does not change much, and the time that passed.
static double frame_start[2];
static double *frames[2];
static int frame_count;

static void frame_begins(void) {
    frame_start[0] = seconds(CLOCK_THREAD_CPUTIME_ID), frame_start[1] = seconds(CLOCK_MONOTONIC);
}

static void frame_ends(void) {
    if (frame_count == 100000) return;
    frames[0][frame_count] = seconds(CLOCK_THREAD_CPUTIME_ID) - frame_start[0];
    frames[1][frame_count++] = seconds(CLOCK_MONOTONIC) - frame_start[1];
}

static int compare(const void *a, const void *b) {
    return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

static void look_at(GtkWidget *window, int *seen, int *shown) {
    *seen = *shown = 0;
    GHashTableIter each;
    gpointer picture;
    g_hash_table_iter_init(&each, bound);
    while (g_hash_table_iter_next(&each, &picture, NULL)) {
        graphene_rect_t bounds;
        if (!gtk_widget_get_mapped(picture) || !gtk_widget_compute_bounds(picture, window, &bounds)) continue;
        if (bounds.origin.y + bounds.size.height <= 0 || bounds.origin.y >= gtk_widget_get_height(window)) continue;
        (*seen)++;
        *shown += is_shown(paintable_of(picture));
    }
}

static double scroll_start, scroll_duration;

static gboolean move_on(GtkWidget *scrolled, GdkFrameClock *clock, gpointer data) {
    (void)clock, (void)data;
    GtkAdjustment *position = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(scrolled));
    double end = gtk_adjustment_get_upper(position) - gtk_adjustment_get_page_size(position);
    gtk_adjustment_set_value(position, (seconds(CLOCK_MONOTONIC) - scroll_start) / scroll_duration * end);
    return G_SOURCE_CONTINUE;
}

static void scroll(int count, const char *base, double duration) {
    bound = g_hash_table_new(NULL, NULL);
    for (int i = 0; i < 2; i++) frames[i] = g_new0(double, 100000);
    GtkStringList *urls = gtk_string_list_new(NULL);
    for (int i = 0; i < count; i++) gtk_string_list_take(urls, g_strdup_printf("%s%d.jpg", base, i));
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    g_signal_connect(factory, "setup", G_CALLBACK(set_up), NULL);
    g_signal_connect(factory, "bind", G_CALLBACK(bind), NULL);
    g_signal_connect(factory, "unbind", G_CALLBACK(unbind), NULL);
    GtkWidget *grid = gtk_grid_view_new(GTK_SELECTION_MODEL(gtk_no_selection_new(G_LIST_MODEL(urls))), factory);
    GtkWidget *scrolled = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), grid);
    double start = seconds(CLOCK_MONOTONIC);
    GtkWidget *window = show(scrolled, 880, 600);
    guint source = g_timeout_add(5, tick, NULL);
    int seen = 0, shown = 0;
    while ((seen < 20 || shown < seen) && seconds(CLOCK_MONOTONIC) - start < 60) {
        g_main_context_iteration(NULL, TRUE);
        look_at(window, &seen, &shown);
    }
    printf("first %d of %d visible images after %.2f s, %d bound, %.1f us to bind one\n", shown, seen,
           seconds(CLOCK_MONOTONIC) - start, bound_most, bind_time / bind_count * 1e6);
    check(shown == seen && seen >= 20, "all visible images");

    GdkFrameClock *clock = gtk_widget_get_frame_clock(window);
    g_signal_connect(clock, "before-paint", G_CALLBACK(frame_begins), NULL);
    g_signal_connect(clock, "after-paint", G_CALLBACK(frame_ends), NULL);
    bind_time = bind_count = 0;
    gsize most = 0;
    start = seconds(CLOCK_MONOTONIC);
    scroll_start = start, scroll_duration = duration;
    gtk_widget_add_tick_callback(scrolled, move_on, NULL, NULL);
    while (seconds(CLOCK_MONOTONIC) - start < duration) {
        g_main_context_iteration(NULL, TRUE);
        most = MAX(most, cached_gtk_get_memory_used());
    }
    printf("%d frames in %.0f s, %.1f us to bind one of %u\n", frame_count, duration,
           bind_time / MAX(bind_count, 1) * 1e6, bind_count);
    for (int i = 0; i < 2; i++) {
        qsort(frames[i], frame_count, sizeof **frames, compare);
        printf("%s: %.1f ms in the middle, 99 %% below %.1f ms, the longest %.1f ms\n", i ? "time" : "processor",
               frames[i][frame_count / 2] * 1e3, frames[i][frame_count * 99 / 100] * 1e3,
               frames[i][frame_count - 1] * 1e3);
    }
    printf("%.1f MB of pictures at most\n", most / 1e6);
    check(most <= 64 << 20, "memory within the limit");
    g_source_remove(source);
    g_autofree char *status = NULL;
    if (g_file_get_contents("/proc/self/status", &status, NULL, NULL)) {
        const char *line = strstr(status, "VmHWM:");
        if (line) printf("%.*s\n", (int)strcspn(line, "\n"), line);
    }
}

int main(int count, char **words) {
    g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR);
    const char *name = count > 2 ? words[1] : "";
    g_setenv("GTK_A11Y", "test", TRUE);
    gtk_init();
    if (strcmp(name, "states") == 0) states(words + 2);
    else if (strcmp(name, "sharing") == 0) sharing(words + 2);
    else if (strcmp(name, "fits") == 0) fits(words + 2);
    else if (strcmp(name, "stand-in") == 0) stand_in(words + 2);
    else if (strcmp(name, "undecodable") == 0) undecodable(words + 2);
    else if (strcmp(name, "pressure") == 0 && count > 4) relieve(words + 2);
    else if (strcmp(name, "faces") == 0) faces(words + 2, count - 2);
    else if (strcmp(name, "gone") == 0 && count > 3) gone(words + 2);
    else if (strcmp(name, "hostile") == 0) hostile(words + 2, count - 2);
    else if (strcmp(name, "rest") == 0) rest(words + 2);
    else if (strcmp(name, "unrun") == 0) unrun(words + 2);
    else if (strcmp(name, "closed") == 0) closed(words + 2);
    else if (strcmp(name, "many") == 0 && count > 3) many(atoi(words[2]), words[3]);
    else if (strcmp(name, "scroll") == 0 && count > 4) scroll(atoi(words[2]), words[3], atof(words[4]));
    else check(FALSE, "a case of this program");
    return 0;
}
