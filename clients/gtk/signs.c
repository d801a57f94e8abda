#include "images.h"

#include <math.h>

/* The drawings of the states: docs/lookup/states.md. Grey on grey suits light and dark themes. */

static void stroke_arc(cairo_t *context, double radius, double start, double share) {
    /* Its ends are straight: a round one would run ahead of the bytes, and close a ring that is open. */
    cairo_set_line_cap(context, CAIRO_LINE_CAP_BUTT);
    cairo_arc(context, 0, 0, radius, (start - .25) * 2 * G_PI, (start - .25 + share) * 2 * G_PI);
    cairo_stroke(context);
}

static void stroke_dots(cairo_t *context, double radius, int count) {
    double dashes[] = {0, 2 * G_PI * radius / count};
    cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND);
    cairo_set_dash(context, dashes, G_N_ELEMENTS(dashes), 0);
    cairo_arc(context, 0, 0, radius, -.5 * G_PI, 1.5 * G_PI - .01);
    cairo_stroke(context);
    cairo_set_dash(context, NULL, 0, 0);
}

static void draw_exclamation(cairo_t *context, double radius) {
    cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND);
    cairo_move_to(context, 0, -radius * .45), cairo_line_to(context, 0, radius * .1);
    cairo_stroke(context);
    cairo_arc(context, 0, radius * .45, radius / 9, 0, 2 * G_PI);
    cairo_fill(context);
}

static void draw_text(cairo_t *context, const char *text, double size) {
    cairo_text_extents_t extents;
    cairo_select_font_face(context, "sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    cairo_set_font_size(context, size);
    cairo_text_extents(context, text, &extents);
    cairo_move_to(context, -extents.x_bearing - extents.width / 2, -extents.y_bearing - extents.height / 2);
    cairo_show_text(context, text);
}

static cairo_t *begin(GtkSnapshot *snapshot, double x, double y, double half) {
    cairo_t *context = gtk_snapshot_append_cairo(snapshot, &GRAPHENE_RECT_INIT(x - half, y - half, 2 * half, 2 * half));
    cairo_translate(context, x, y);
    return context;
}

static void set_blue(cairo_t *context) { cairo_set_source_rgba(context, .21, .52, .89, 1); }

static void set_grey(cairo_t *context) { cairo_set_source_rgba(context, .5, .5, .5, .9); }

static double ring_radius(const graphene_rect_t *area) { return MIN(MIN(area->size.width, area->size.height) * .17, 24); }

static cairo_t *begin_ring(GtkSnapshot *snapshot, const graphene_rect_t *area) {
    double x = area->origin.x + area->size.width / 2, y = area->origin.y + area->size.height / 2;
    return begin(snapshot, x, y, ring_radius(area) + 4);
}

void sign_draw_ground(GtkSnapshot *snapshot, const graphene_rect_t *area) {
    cairo_t *context = begin_ring(snapshot, area);
    /* Its text has to be read on any picture. */
    cairo_set_source_rgba(context, 1, 1, 1, .85);
    cairo_arc(context, 0, 0, ring_radius(area) + 4, 0, 2 * G_PI);
    cairo_fill(context);
    cairo_destroy(context);
}

void sign_draw(GtkSnapshot *snapshot, const graphene_rect_t *area, Look look, double share, double turn, const char *text) {
    double radius = ring_radius(area);
    cairo_t *context = begin_ring(snapshot, area);
    cairo_set_line_width(context, radius / 5);
    if (look != LOOK_CONNECTING) {
        cairo_set_source_rgba(context, .5, .5, .5, .3);
        stroke_arc(context, radius, 0, 1);
    }
    switch (look) {
    case LOOK_CONNECTING: set_grey(context), stroke_dots(context, radius, 12); break;
    case LOOK_UNMEASURED:
        set_blue(context);
        /* A part of the ring that stands still would read as a share. */
        if (turn < 0) stroke_dots(context, radius, 3);
        else stroke_arc(context, radius, turn, .3);
        break;
    case LOOK_DERIVING:
        set_blue(context);
        if (turn < 0) stroke_dots(context, radius, 2);
        else for (int i = 0; i < 2; i++) stroke_arc(context, radius, turn + .5 * i, .25);
        break;
    case LOOK_RETRYING: cairo_set_source_rgba(context, .9, .55, .1, 1), stroke_arc(context, radius, 0, share); break;
    case LOOK_FAILED: set_grey(context), draw_exclamation(context, radius); break;
    case LOOK_RECEIVING: case LOOK_PUBLISHING: case LOOK_CACHED: set_blue(context), stroke_arc(context, radius, 0, share); break;
    default: break;
    }
    set_grey(context);
    if (*text && radius >= 14) draw_text(context, text, radius * .5);
    cairo_destroy(context);
}

void marks_draw(GtkSnapshot *snapshot, const graphene_rect_t *area, int marks) {
    enum { RADIUS = 9, STEP = 22 };
    if (MIN(area->size.width, area->size.height) < 2 * STEP) return;
    double x = area->origin.x + STEP * .6;
    for (int mark = MARK_STALE; mark <= MARK_GONE; mark *= 2) {
        if (!(marks & mark)) continue;
        cairo_t *context = begin(snapshot, x, area->origin.y + STEP * .6, RADIUS);
        x += STEP;
        /* It has to be seen on any picture. */
        cairo_set_source_rgba(context, 0, 0, 0, .6);
        cairo_arc(context, 0, 0, RADIUS, 0, 2 * G_PI);
        cairo_fill(context);
        cairo_set_source_rgb(context, 1, 1, 1);
        cairo_set_line_width(context, 1.5);
        if (mark == MARK_STALE) {
            cairo_arc(context, 0, 0, 5.5, 0, 2 * G_PI);
            cairo_move_to(context, 0, -3.5), cairo_line_to(context, 0, 0), cairo_line_to(context, 3, 0);
            cairo_stroke(context);
        } else if (mark == MARK_PINNED) {
            cairo_move_to(context, 0, -5), cairo_line_to(context, 5, 0);
            cairo_line_to(context, 0, 5), cairo_line_to(context, -5, 0);
            cairo_fill(context);
        } else if (mark == MARK_FAILED) {
            draw_exclamation(context, RADIUS);
        } else {
            cairo_move_to(context, -4, -4), cairo_line_to(context, 4, 4);
            cairo_move_to(context, 4, -4), cairo_line_to(context, -4, 4);
            cairo_stroke(context);
        }
        cairo_destroy(context);
    }
}
