// The files of the gallery's page, embedded into the program.
#ifndef CGALLERYPAGE_H
#define CGALLERYPAGE_H

#include <stddef.h>
#include <stdint.h>

struct cgallery_file {
    const char *_Nonnull name;
    /// The text, with a NUL at its end.
    const uint8_t *_Nonnull bytes;
};

/// One of the files; NULL after the last one.
const struct cgallery_file *_Nullable cgallery_file(size_t index);

#endif
