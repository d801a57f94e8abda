// The fake of libcached, as the tests of an application use it. It is C and C++.

#include "cached.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

static const char *const url = "https://example.com/a.png";
static const char *const other = "https://example.com/b.png";

static void set(cached *cache, const char *image_url, int32_t state, int64_t received, const char *path) {
    cached_image image = CACHED_IMAGE_INIT;
    image.url = image_url;
    image.state = state;
    image.received = received;
    image.total = 100;
    image.path = path;
    if (state == CACHED_FAILED) image.kind = "http", image.message = "the server answered with status 404";
    CHECK(cached_fake_set(cache, &image) == 0);
}

static int next(cached *cache, cached_image *image) {
    struct pollfd entry = {cached_fd(cache), POLLIN, 0};
    poll(&entry, 1, 1000);
    return cached_next(cache, image);
}

int main(int count, char **arguments) {
    (void)count;
    cached *cache = cached_open_fake();
    CHECK(cache != NULL && cached_is_available(cache) == 1);
    cached_image image = CACHED_IMAGE_INIT;
    CHECK(cached_peek(cache, url, &image) == CACHED_MISSING);
    set(cache, url, CACHED_IN_FLIGHT, 10, NULL);
    set(cache, url, CACHED_IN_FLIGHT, 50, NULL);
    CHECK(cached_peek(cache, url, &image) == CACHED_IN_FLIGHT && image.received == 10);

    cached_request request = CACHED_REQUEST_INIT;
    request.url = url;
    CHECK(cached_add(cache, &request) == 0);
    CHECK(next(cache, &image) == 1 && image.received == 10 && strcmp(image.url, url) == 0);
    CHECK(next(cache, &image) == 1 && image.received == 50);
    CHECK(cached_next(cache, &image) == 0);
    // A state that comes later, while the image is wanted.
    set(cache, url, CACHED_HERE, 100, arguments[0]);
    CHECK(next(cache, &image) == 1 && image.state == CACHED_HERE);
    CHECK(image.identity != 0 && strcmp(image.path, arguments[0]) == 0);
    CHECK(cached_next(cache, &image) == 0);
    CHECK(cached_peek(cache, url, &image) == CACHED_HERE);
    int file = cached_open_file(cache, url);
    CHECK(file >= 0 && close(file) == 0);
    CHECK(cached_pin(cache, url, 1) == 0 && cached_pin(cache, other, 1) == -ENOENT);

    // Waiting ends at once.
    request.url = other;
    CHECK(cached_get(cache, &request, -1, &image) == -ETIMEDOUT);
    set(cache, other, CACHED_IN_FLIGHT, 20, NULL);
    set(cache, other, CACHED_FAILED, 20, NULL);
    CHECK(cached_get(cache, &request, -1, &image) == CACHED_FAILED && strcmp(image.kind, "http") == 0);
    const char *urls[] = {url, other};
    cached_image images[] = {CACHED_IMAGE_INIT, CACHED_IMAGE_INIT};
    CHECK(cached_status(cache, urls, 2, images) == 0);
    CHECK(images[0].state == CACHED_HERE && images[1].state == CACHED_FAILED);
    CHECK(cached_remove(cache, url) == 0 && cached_peek(cache, url, &image) == CACHED_MISSING);
    CHECK(cached_import(cache, url, arguments[0]) == 0 && cached_peek(cache, url, &image) == CACHED_HERE);
    cached_close(cache);
    return 0;
}
