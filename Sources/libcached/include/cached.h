/* libcached: the image cache of this machine.

   No thread, no callback, no dependency but libc. A handle is used by one thread at a time, and only by the process that
   made it. Numbers of bytes are 64 bits; times are Unix seconds. Build with `pkg-config --cflags --libs cached`. */
#ifndef CACHED_H
#define CACHED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cached cached;

enum cached_state {
    /* Neither a file nor a download that runs. received and total tell of an interrupted one. */
    CACHED_MISSING,
    /* Being downloaded: received of total bytes. */
    CACHED_IN_FLIGHT,
    /* The file at path is complete and checked. */
    CACHED_HERE,
    /* kind and message tell why. */
    CACHED_FAILED
};

enum cached_priority { CACHED_BACKGROUND, CACHED_NORMAL, CACHED_VISIBLE };

enum cached_pressure { CACHED_PRESSURE_NORMAL, CACHED_PRESSURE_WARNING, CACHED_PRESSURE_CRITICAL };

/* What is known of an image. Texts are UTF-8, NULL if absent, and live until the next call with the same handle. */
typedef struct cached_image {
    /* Set it to sizeof(cached_image) before each call: later versions add members at the end. */
    size_t length;
    /* enum cached_state */
    int32_t state;
    /* In pixels, as a viewer shows the image; 0 if unknown. */
    int32_t width, height;
    /* Of a failure: the answer of the origin; 0 if there is none. */
    int32_t http_status;
    int64_t received;
    /* -1 while unknown. */
    int64_t total;
    /* Of a failure: when the daemon tries again; 0 if it does not. */
    int64_t retry_at;
    const char *url, *path, *media_type;
    /* Of a failure: a word for programs, such as http or noDaemon, and a sentence for people. */
    const char *kind, *message;
} cached_image;

/* Opens the cache. NULL: where everybody looks. directory: $CACHE_DIRECTORY, $HOST_XDG_CACHE_HOME/cached,
   $XDG_CACHE_HOME/cached, ~/.cache/cached. socket: $CACHED_SOCKET, $XDG_RUNTIME_DIR/cached/cached.sock,
   /run/cached/cached.sock. Neither has to exist. NULL with errno if memory or descriptors are short. */
cached *cached_open(const char *directory, const char *socket);

/* For how many milliseconds the daemon may be away before images fail with the kind noDaemon; 30,000 at first. */
void cached_set_patience(cached *, int32_t milliseconds);

/* Ends everything that was wanted. NULL is ignored. */
void cached_close(cached *);

/* The name of a URL's file: 36 characters and a NUL. Needs nothing. */
void cached_name(const char *url, char name[37]);

/* What the directory alone says, without the daemon: some microseconds. The state, or -EINVAL. CACHED_FAILED if the
   directory is a symbolic link or a file (storage), belongs to another person or is closed to this program
   (notPermitted), or if the URL is longer than 8,192 bytes (invalidURL). */
int cached_peek(cached *, const char *url, cached_image *);

/* Wants these images from now on, and no others; what was wanted before goes on. priorities: one enum cached_priority
   for each, or NULL for CACHED_NORMAL. Connects if need be. 0, or a negative errno. */
int cached_want(cached *, const char *const *urls, const int32_t *priorities, size_t count);

/* The one descriptor to poll for input, in any event loop; it stays the same. */
int cached_fd(cached *);

/* The next news of an image that is wanted: 1, or 0 if there is none now, or a negative errno. Never waits. If the
   daemon goes away, the library connects again. An image that has failed because no daemon answers comes after all if
   one does. */
int cached_next(cached *, cached_image *);

/* The file of a cached image, open for reading: by its path, else handed over by the daemon, for which it waits up to
   five seconds. -ENOENT if it is not cached, or another negative errno. */
int cached_open_file(cached *, const char *url);

/* Protects an image from eviction, or ends that. Waits for the daemon, up to five seconds. 0, or a negative errno:
   -ENOENT if the image is not cached, -EPERM if the daemon does not permit this user to pin. */
int cached_pin(cached *, const char *url, int pinned);

/* The level of memory pressure, enum cached_pressure; watched from the first call on. Call it after cached_next. */
int cached_pressure(cached *);

#ifdef __cplusplus
}
#endif

#endif
