// Times questions about images that need no daemon: peek HOW DIRECTORY STATE SECONDS, and URLs on standard input.
//
// HOW is `libcached`; or `stat`, one lstat(2) of a path that is known; or `calls`, the system calls that libcached
// makes for an image in that state. Prints the microseconds of a question: the median of batches, which are so short
// that other programs seldom interrupt one. Fails if an image is in another state.

#include "cached.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, MOST = 100000, BATCH = 256, MOST_BATCHES = 1 << 20 };

struct question {
    char *url, *path, *partial, attribute[sizeof "user.cached." + 8];
};

static cached *cache;

/// Whether the image is cached.
static int look(const char *how, const struct question *question) {
    if (strcmp(how, "libcached") == 0) {
        // Without the search for a stand-in.
        cached_image image = {.length = offsetof(cached_image, stand_in)};
        return cached_peek(cache, question->url, &image) == CACHED_HERE;
    }
    struct stat status;
    int is_there = lstat(question->path, &status) == 0;
    if (strcmp(how, "stat") == 0) return is_there;
    char record[1024];
    if (is_there) return lgetxattr(question->path, question->attribute, record, sizeof record) > 0;
    int file = open(question->partial, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0) close(file);
    // It may have been published in between.
    return lstat(question->path, &status) == 0;
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int compare(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

static size_t read_questions(const char *directory, struct question *questions) {
    char *line = NULL, path[PATH_ROOM], name[37];
    size_t room = 0, count = 0;
    while (count < MOST && getline(&line, &room, stdin) > 0) {
        line[strcspn(line, "\n")] = 0;
        cached_name(line, name);
        struct question *question = &questions[count++];
        question->url = strdup(line);
        snprintf(path, sizeof path, "%s/%s", directory, name);
        question->path = strdup(path);
        snprintf(path, sizeof path, "%s/%s.part", directory, name);
        question->partial = strdup(path);
        snprintf(question->attribute, sizeof question->attribute, "user.cached.%.8s", name);
    }
    free(line);
    return count;
}

int main(int count, char **arguments) {
    if (count != 5) return 64;
    const char *how = arguments[1], *state = arguments[3];
    cache = cached_open(arguments[2], NULL);
    struct question *questions = calloc(MOST, sizeof *questions);
    double *batches = malloc(MOST_BATCHES * sizeof *batches);
    size_t all = read_questions(arguments[2], questions), asked = 0, measured = 0;
    if (cache == NULL || all == 0) return 66;
    int expected = strcmp(state, "cached") == 0;
    double begin = seconds(), end = begin + atof(arguments[4]);
    while (begin < end && measured < MOST_BATCHES) {
        for (size_t last = asked + BATCH; asked < last; asked++) {
            const struct question *question = &questions[asked % all];
            if (look(how, question) == expected) continue;
            fprintf(stderr, "peek: %s is not %s\n", question->url, state);
            return 1;
        }
        double now = seconds();
        batches[measured++] = now - begin;
        begin = now;
    }
    qsort(batches, measured, sizeof *batches, compare);
    printf("%.4f\n", 1e6 * batches[measured / 2] / BATCH);
    return 0;
}
