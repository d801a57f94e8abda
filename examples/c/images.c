/* The states of images, their progress, and the paths of their files: images URL... */
#include <cached.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(const cached_image *image) {
    if (image->state == CACHED_HERE)
        printf("cached %s\n", image->path);
    else if (image->state == CACHED_FAILED)
        printf("failed %s: %s\n", image->url, image->message);
    else if (image->state == CACHED_MISSING)
        printf("missing %s\n", image->url);
    else if (image->total > 0)
        printf("in flight %d%% %s\n", (int)(100 * image->received / image->total), image->url);
    else /* The origin has not sent the length, so a program with a ring lets it turn. */
        printf("in flight %s\n", image->url);
}

int main(int count, char **urls) {
    /* NULL: the directory and the socket that every program uses. */
    cached *cache = cached_open(NULL, NULL);
    if (cache == NULL) return perror("images: cannot open the cache"), EXIT_FAILURE;
    cached_set_patience(cache, 2000); /* A program with a window can wait longer for a daemon that restarts. */
    setvbuf(stdout, NULL, _IOLBF, 0);

    /* The directory alone shows this, in microseconds and without a daemon. */
    const char **wanted = calloc((size_t)count, sizeof *wanted);
    size_t left = 0;
    for (int i = 1; i < count; i++) {
        cached_image image = CACHED_IMAGE_INIT;
        cached_peek(cache, urls[i], &image);
        show(&image);
        if (image.state != CACHED_HERE) wanted[left++] = urls[i];
    }

    /* Wanting waits for nothing. The descriptor becomes readable when there is news, in any event loop. */
    cached_want(cache, wanted, NULL, left);
    bool failed = false;
    struct pollfd news = {.fd = cached_fd(cache), .events = POLLIN};
    for (size_t all = left; left > 0;) {
        poll(&news, 1, -1);
        cached_image image = CACHED_IMAGE_INIT;
        while (cached_next(cache, &image) == 1) {
            show(&image);
            if (image.state != CACHED_HERE && image.state != CACHED_FAILED) continue;
            for (size_t i = 0; i < all; i++) {
                if (wanted[i] == NULL || strcmp(wanted[i], image.url) != 0) continue;
                wanted[i] = NULL; /* A URL can be among the arguments twice; its news come once. */
                left--;
            }
            if (image.state == CACHED_FAILED) failed = true;
        }
    }
    free(wanted);
    cached_close(cache);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
