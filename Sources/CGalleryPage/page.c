// The compiler reads the files, and notices when they change. C23 §6.10.4, "Binary resource inclusion"
#include "CGalleryPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// A line for each file of the page. The NUL is the end.
static const struct cgallery_file files[] = {
    {"actions.js", (const uint8_t[]){
#embed "../cached-gallery/Page/actions.js" suffix(, 0)
    }},
    {"add.js", (const uint8_t[]){
#embed "../cached-gallery/Page/add.js" suffix(, 0)
    }},
    {"address.js", (const uint8_t[]){
#embed "../cached-gallery/Page/address.js" suffix(, 0)
    }},
    {"catalog.js", (const uint8_t[]){
#embed "../cached-gallery/Page/catalog.js" suffix(, 0)
    }},
    {"cell.js", (const uint8_t[]){
#embed "../cached-gallery/Page/cell.js" suffix(, 0)
    }},
    {"dom.js", (const uint8_t[]){
#embed "../cached-gallery/Page/dom.js" suffix(, 0)
    }},
    {"drawer.js", (const uint8_t[]){
#embed "../cached-gallery/Page/drawer.js" suffix(, 0)
    }},
    {"events.js", (const uint8_t[]){
#embed "../cached-gallery/Page/events.js" suffix(, 0)
    }},
    {"failures.js", (const uint8_t[]){
#embed "../cached-gallery/Page/failures.js" suffix(, 0)
    }},
    {"fields.js", (const uint8_t[]){
#embed "../cached-gallery/Page/fields.js" suffix(, 0)
    }},
    {"filters.js", (const uint8_t[]){
#embed "../cached-gallery/Page/filters.js" suffix(, 0)
    }},
    {"first.js", (const uint8_t[]){
#embed "../cached-gallery/Page/first.js" suffix(, 0)
    }},
    {"format.js", (const uint8_t[]){
#embed "../cached-gallery/Page/format.js" suffix(, 0)
    }},
    {"gallery.js", (const uint8_t[]){
#embed "../cached-gallery/Page/gallery.js" suffix(, 0)
    }},
    {"grid.css", (const uint8_t[]){
#embed "../cached-gallery/Page/grid.css" suffix(, 0)
    }},
    {"grid.js", (const uint8_t[]){
#embed "../cached-gallery/Page/grid.js" suffix(, 0)
    }},
    {"groups.js", (const uint8_t[]){
#embed "../cached-gallery/Page/groups.js" suffix(, 0)
    }},
    {"icon.svg", (const uint8_t[]){
#embed "../cached-gallery/Page/icon.svg" suffix(, 0)
    }},
    {"index.html", (const uint8_t[]){
#embed "../cached-gallery/Page/index.html" suffix(, 0)
    }},
    {"happened.js", (const uint8_t[]){
#embed "../cached-gallery/Page/happened.js" suffix(, 0)
    }},
    {"keys.js", (const uint8_t[]){
#embed "../cached-gallery/Page/keys.js" suffix(, 0)
    }},
    {"lasso.js", (const uint8_t[]){
#embed "../cached-gallery/Page/lasso.js" suffix(, 0)
    }},
    {"layout.js", (const uint8_t[]){
#embed "../cached-gallery/Page/layout.js" suffix(, 0)
    }},
    {"legend.js", (const uint8_t[]){
#embed "../cached-gallery/Page/legend.js" suffix(, 0)
    }},
    {"light.js", (const uint8_t[]){
#embed "../cached-gallery/Page/light.js" suffix(, 0)
    }},
    {"motion.js", (const uint8_t[]){
#embed "../cached-gallery/Page/motion.js" suffix(, 0)
    }},
    {"page.css", (const uint8_t[]){
#embed "../cached-gallery/Page/page.css" suffix(, 0)
    }},
    {"panels.css", (const uint8_t[]){
#embed "../cached-gallery/Page/panels.css" suffix(, 0)
    }},
    {"partial.js", (const uint8_t[]){
#embed "../cached-gallery/Page/partial.js" suffix(, 0)
    }},
    {"plots.js", (const uint8_t[]){
#embed "../cached-gallery/Page/plots.js" suffix(, 0)
    }},
    {"pointer.js", (const uint8_t[]){
#embed "../cached-gallery/Page/pointer.js" suffix(, 0)
    }},
    {"ring.js", (const uint8_t[]){
#embed "../cached-gallery/Page/ring.js" suffix(, 0)
    }},
    {"route.js", (const uint8_t[]){
#embed "../cached-gallery/Page/route.js" suffix(, 0)
    }},
    {"rows.js", (const uint8_t[]){
#embed "../cached-gallery/Page/rows.js" suffix(, 0)
    }},
    {"scroll.js", (const uint8_t[]){
#embed "../cached-gallery/Page/scroll.js" suffix(, 0)
    }},
    {"scrubber.js", (const uint8_t[]){
#embed "../cached-gallery/Page/scrubber.js" suffix(, 0)
    }},
    {"selection.js", (const uint8_t[]){
#embed "../cached-gallery/Page/selection.js" suffix(, 0)
    }},
    {"server.js", (const uint8_t[]){
#embed "../cached-gallery/Page/server.js" suffix(, 0)
    }},
    {"shelf.css", (const uint8_t[]){
#embed "../cached-gallery/Page/shelf.css" suffix(, 0)
    }},
    {"series.js", (const uint8_t[]){
#embed "../cached-gallery/Page/series.js" suffix(, 0)
    }},
    {"shelf.js", (const uint8_t[]){
#embed "../cached-gallery/Page/shelf.js" suffix(, 0)
    }},
    {"state.js", (const uint8_t[]){
#embed "../cached-gallery/Page/state.js" suffix(, 0)
    }},
    {"states.css", (const uint8_t[]){
#embed "../cached-gallery/Page/states.css" suffix(, 0)
    }},
    {"states.js", (const uint8_t[]){
#embed "../cached-gallery/Page/states.js" suffix(, 0)
    }},
    {"thumbnails.js", (const uint8_t[]){
#embed "../cached-gallery/Page/thumbnails.js" suffix(, 0)
    }},
    {"transfers.js", (const uint8_t[]){
#embed "../cached-gallery/Page/transfers.js" suffix(, 0)
    }},
    {"viewer.css", (const uint8_t[]){
#embed "../cached-gallery/Page/viewer.css" suffix(, 0)
    }},
    {"treemap.js", (const uint8_t[]){
#embed "../cached-gallery/Page/treemap.js" suffix(, 0)
    }},
    {"viewer.js", (const uint8_t[]){
#embed "../cached-gallery/Page/viewer.js" suffix(, 0)
    }},
};

const struct cgallery_file *cgallery_file(size_t index) {
    return index < sizeof files / sizeof *files ? &files[index] : NULL;
}
