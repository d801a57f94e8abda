/* libcached: the image cache of this machine.

   No thread, no callback, no handler of signals, no dependency but libc. Threads: a handle is used by one thread at a
   time, and only by the process that opened it; different threads can use different handles at the same time. Numbers of
   bytes are 64 bits; times are Unix seconds. Build with `pkg-config --cflags --libs cached`.

   If no daemon answers, the library starts one, which ends after ten minutes without a client: the user's cached.socket of
   systemd, or else the program cached. docs/lookup/libraries.md, "Without a daemon". */
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

/* What the daemon does for an image; docs/lookup/states.md. */
enum cached_phase {
    CACHED_NO_PHASE,
    /* It waits for a slot, or until retry_at. */
    CACHED_QUEUED,
    /* It waits for the first byte. */
    CACHED_CONNECTING,
    CACHED_RECEIVING,
    /* It waits for the next attempt, at retry_at; kind and message tell why the last one failed. */
    CACHED_RETRYING,
    /* It makes the image of a larger one. */
    CACHED_DERIVING,
    /* All bytes are here, and not yet durable. */
    CACHED_PUBLISHING
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
    /* Of a cached image: when it becomes stale, so that its origin is asked at the next use. 0 if unknown, as in all news. */
    int64_t fresh_until;
    /* enum cached_phase. CACHED_NO_PHASE too if only the directory was asked. */
    int32_t phase;
    /* Of a cached image: 1 if it is never evicted. 0 in all news. */
    int32_t pinned;
    /* path: absolute. NULL although the image is here if this program cannot see the file, as in a sandbox:
       cached_open_file opens it. */
    const char *url, *path, *media_type;
    /* Of a failure, and of a cached image that could not be refreshed: a word for programs, such as http or noDaemon, and
       a sentence for people. The words are in docs/lookup/failures.md. */
    const char *kind, *message;
    /* Another number if another file is behind the name: a key for decoded pictures. 0 if there is no file, or if this
       program cannot see it. */
    uint64_t identity;
    /* The path of the largest smaller variant (#side=) of this image that is cached, to be shown meanwhile; NULL if there
       is none, or if the image is here. cached_next does not look for one, and neither does a call with a length of
       offsetof(cached_image, stand_in), which takes some microseconds less. */
    const char *stand_in;
} cached_image;

/* For `cached_image image = CACHED_IMAGE_INIT;`. */
#define CACHED_IMAGE_INIT \
    { sizeof(cached_image), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL }

/* One image, and how it is wanted. Nothing of it is used after the call. */
typedef struct cached_request {
    /* Set it to sizeof(cached_request): later versions add members at the end. */
    size_t length;
    /* Perhaps of a variant: URL#side=256, URL#as=ada, URL#as=ada&side=256. */
    const char *url;
    /* enum cached_priority */
    int32_t priority;
    /* The failed attempts after which it has failed; 0: as many as the daemon makes. */
    int32_t attempts;
    /* The milliseconds after which it fails with the kind deadline; 0: none. For others, the download goes on. */
    int64_t timeout;
    /* Header fields for the request of an account, each "Name: value", and NULL at the end; NULL: none. Only for a URL with
       #as=. They are kept in memory as long as the image is wanted. */
    const char *const *headers;
    /* The media types that the caller can decode, such as "image/jpeg, image/png"; NULL: all. An image of another type
       fails with the kind notAccepted. It stays cached. */
    const char *accept;
} cached_request;

/* For `cached_request request = CACHED_REQUEST_INIT;`. */
#define CACHED_REQUEST_INIT \
    { sizeof(cached_request), NULL, CACHED_NORMAL, 0, 0, NULL, NULL }

/* Opens the cache. NULL: where everybody looks. directory: $CACHED_DIRECTORY, /var/cache/cached if the machine's
   daemon serves, $XDG_CACHE_HOME/cached, ~/.cache/cached. socket: $CACHED_SOCKET, $XDG_RUNTIME_DIR/cached/cached.sock,
   /run/cached/cached.sock. Neither has to exist. NULL with errno if memory or descriptors are short. */
cached *cached_open(const char *directory, const char *socket);

/* For how many milliseconds a daemon may be away, while it restarts for example, before images fail with the kind noDaemon;
   30,000 at first. If no daemon was ever there and none can be started, they fail at once, and the message tells why. */
void cached_set_patience(cached *, int32_t milliseconds);

/* Whether a daemon is started if none answers: 1 at first, or 0 if $CACHED_START is no. */
void cached_set_start(cached *, int start);

/* Whether a daemon answers or could be started: 1 or 0. It starts none, and waits for nothing. */
int cached_is_available(cached *);

/* Ends everything that was wanted. NULL is ignored. */
void cached_close(cached *);

/* The name of a URL's file: 36 characters and a NUL. Needs nothing. */
void cached_name(const char *url, char name[37]);

/* What the directory alone says, without the daemon: some microseconds. The state, or -EINVAL. CACHED_FAILED if the
   directory is a symbolic link or a file (storage), belongs to another person or is closed to this program
   (notPermitted), or if the URL is longer than 8,192 bytes (invalidURL). */
int cached_peek(cached *, const char *url, cached_image *);

/* The states of many images, by one call to the daemon, for which it waits up to five seconds; from the directory if no
   daemon runs. It downloads nothing and starts nothing. images: room for count of them, each with its length set. 0, or a
   negative errno. */
int cached_status(cached *, const char *const *urls, size_t count, cached_image *images);

/* Wants one more image, whose news comes by cached_next; an image that is wanted already gets this priority and these
   options. Connects if need be, and never waits. 0, or a negative errno: -EINVAL for an unknown priority, or for header
   fields that are none or come without #as= in the URL. */
int cached_add(cached *, const cached_request *);

/* Wants an image no longer. Its download stops if nobody else wants it. 0, also if it was not wanted. */
int cached_drop(cached *, const char *url);

/* Wants these images from now on, and no others; what was wanted before goes on. priorities: one enum cached_priority
   for each, or NULL for CACHED_NORMAL. Connects if need be. 0, or a negative errno. */
int cached_want(cached *, const char *const *urls, const int32_t *priorities, size_t count);

/* Waits for one image, at most so many milliseconds; less than 0: for as long as it takes. Needs no daemon if the image is
   cached and fresh. Returns CACHED_HERE or CACHED_FAILED; -ETIMEDOUT, and image tells how far it is; or another negative
   errno. What is wanted with cached_add and cached_want goes on, and its news is kept. */
int cached_get(cached *, const cached_request *, int32_t milliseconds, cached_image *);

/* As cached_get, but the origin is asked whether the image has changed. If it cannot be asked, the image that is here is
   returned as CACHED_HERE, and kind and message tell why. With 0 milliseconds, the request is left to the daemon, which goes
   on with it: it waits up to five seconds for the daemon to take it, and returns -ETIMEDOUT then. */
int cached_refresh(cached *, const cached_request *, int32_t milliseconds, cached_image *);

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

/* Removes an image, pinned or not, with the sizes made of it, and stops its download. Waits for the daemon, up to five
   seconds. 0, also if it was not cached, or a negative errno: -EPERM if the daemon does not permit this user to remove. */
int cached_remove(cached *, const char *url);

/* Removes every image of an account, that is, of URLs with #as=ACCOUNT; otherwise as cached_remove. */
int cached_remove_account(cached *, const char *account);

/* Puts a whole image file into the cache under a URL, as `cachectl import URL FILE` does: it runs that program and waits for
   its end. No daemon is needed; one that runs has the image at once. 0, also if the image was cached before, or a negative
   errno: -ENOENT if there is no such file or no program cachectl, -EINVAL if the URL is none, -EPERM if the directory is
   closed to this user, -EBADMSG if the file is not a whole image. */
int cached_import(cached *, const char *url, const char *file);

/* The level of memory pressure, enum cached_pressure; watched from the first call on. Call it after cached_next. */
int cached_pressure(cached *);

/* A cache for tests of applications. It needs no daemon, no directory and no network, never waits, and follows a script that
   cached_fake_set writes. cached_get, too, ends at once: with -ETIMEDOUT if the script leaves the image undecided. */
cached *cached_open_fake(void);

/* Adds a state to the script of image->url. While the image is wanted, cached_next reports its states, one a call, in
   order. cached_peek tells the state that was reported last, or the first one if none was. 0, or a negative errno. */
int cached_fake_set(cached *, const cached_image *);

#ifdef __cplusplus
}
#endif

#endif
