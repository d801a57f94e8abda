// A program that wants one image where no daemon runs: first URL. Prints the milliseconds from its start until the image is
// there, and those of the longest call, for which an event loop would have to wait.

#include "cached.h"

#include <poll.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(int count, char **arguments) {
    double start = now(), before = start, longest = 0;
    cached *cache = cached_open(NULL, NULL);
    cached_request request = CACHED_REQUEST_INIT;
    if (count != 2 || cache == NULL) return 64;
    request.url = arguments[1];
    int result = cached_add(cache, &request);
    cached_image image = CACHED_IMAGE_INIT;
    while (result >= 0 && image.state != CACHED_HERE && image.state != CACHED_FAILED) {
        if (now() - before > longest) longest = now() - before;
        struct pollfd entry = {.fd = cached_fd(cache), .events = POLLIN};
        if (poll(&entry, 1, 10000) <= 0) break;
        image.length = sizeof image;
        before = now();
        result = cached_next(cache, &image);
    }
    if (image.state != CACHED_HERE) {
        fprintf(stderr, "%s\n", image.message != NULL ? image.message : "no news");
        return 1;
    }
    printf("%.3f %.3f\n", now() - start, longest);
    cached_close(cache);
    return 0;
}
