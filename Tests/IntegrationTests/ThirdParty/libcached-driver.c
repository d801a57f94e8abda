// A program over libcached: libcached-driver DIRECTORY SOCKET PATIENCE-MS, then commands on standard input, a line each:
//
//     name URL | peek URL | file URL | pin URL | pressure
//     want PRIORITY URL PRIORITY URL …      the set from now on
//     want-many COUNT BASE                 BASE0.png, BASE1.png, …, at normal priority
//     add PRIORITY URL OPTION …             wants one more image; OPTION is attempts=, timeout=, accept= or header=
//     drop URL
//     get MS URL OPTION … | refresh MS URL OPTION …
//     status URL URL …
//     remove URL | remove-account NAME | import URL FILE | available | start 0 | stand-in URL | identity URL
//     news COUNT                            waits until COUNT images have an end
//     end                                   closes the cache and ends
//
// Prints a line for each answer.

#include "cached.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const states[] = {"missing", "inFlight", "cached", "failed"};

static const char *or_dash(const char *text) { return text != NULL ? text : "-"; }

static void print_image(const char *what, const cached_image *image) {
    printf("%s %s %s %lld/%lld %dx%d %s %s %s\n", what, states[image->state], image->url,
           (long long)image->received, (long long)image->total, image->width, image->height,
           or_dash(image->media_type), or_dash(image->kind), or_dash(image->path));
}

static void news(cached *cache, int count) {
    while (count > 0) {
        struct pollfd entry = {.fd = cached_fd(cache), .events = POLLIN};
        if (poll(&entry, 1, 60000) <= 0) {
            printf("timeout\n");
            return;
        }
        cached_image image = CACHED_IMAGE_INIT;
        int result = 0;
        while (count > 0 && (result = cached_next(cache, &image)) == 1) {
            print_image("news", &image);
            if (image.state == CACHED_HERE || image.state == CACHED_FAILED) count--;
            image.length = sizeof image;
        }
        if (count > 0 && result < 0) {
            printf("error %d\n", result);
            return;
        }
    }
}

static void want(cached *cache, char *list) {
    size_t count = 0, room = 1024;
    const char **urls = malloc(room * sizeof *urls);
    int32_t *priorities = malloc(room * sizeof *priorities);
    for (char *word = strtok(list, " "); word != NULL; word = strtok(NULL, " ")) {
        if (count == room) {
            room *= 2;
            urls = realloc(urls, room * sizeof *urls);
            priorities = realloc(priorities, room * sizeof *priorities);
        }
        priorities[count] = atoi(word);
        urls[count++] = strtok(NULL, " ");
    }
    printf("want %d\n", cached_want(cache, urls, priorities, count));
    free(urls);
    free(priorities);
}

static void want_many(cached *cache, char *arguments) {
    int count = atoi(arguments);
    const char *base = strchr(arguments, ' ') + 1;
    char **urls = malloc((size_t)count * sizeof *urls);
    for (int number = 0; number < count; number++) {
        urls[number] = malloc(strlen(base) + 32);
        sprintf(urls[number], "%s%d.png", base, number);
    }
    printf("want %d\n", cached_want(cache, (const char *const *)urls, NULL, (size_t)count));
    for (int number = 0; number < count; number++) free(urls[number]);
    free(urls);
}

// Splits "NUMBER URL OPTION …". The texts are those of the line.
static long read_request(char *list, cached_request *request) {
    static const char *headers[17];
    size_t count = 0;
    long number = atol(strtok(list, " "));
    request->url = strtok(NULL, " ");
    for (char *word = strtok(NULL, " "); word != NULL; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = 0;
        if (strcmp(word, "attempts") == 0) request->attempts = atoi(value);
        else if (strcmp(word, "timeout") == 0) request->timeout = atol(value);
        else if (strcmp(word, "accept") == 0) request->accept = value;
        else headers[count++] = value;
    }
    headers[count] = NULL;
    if (count > 0) request->headers = headers;
    return number;
}

static void add(cached *cache, char *list) {
    cached_request request = CACHED_REQUEST_INIT;
    request.priority = (int32_t)read_request(list, &request);
    printf("add %d\n", cached_add(cache, &request));
}

static void get(cached *cache, char *list, int refreshes) {
    cached_request request = CACHED_REQUEST_INIT;
    cached_image image = CACHED_IMAGE_INIT;
    int32_t limit = (int32_t)read_request(list, &request);
    int result = (refreshes ? cached_refresh : cached_get)(cache, &request, limit, &image);
    printf("get %d ", result);
    if (image.url != NULL) print_image("image", &image);
    else printf("none\n");
    if (image.message != NULL) printf("message %s\n", image.message);
}

static void status(cached *cache, char *list) {
    const char *urls[64];
    cached_image images[64];
    size_t count = 0;
    for (char *word = strtok(list, " "); word != NULL && count < 64; word = strtok(NULL, " ")) {
        images[count] = (cached_image)CACHED_IMAGE_INIT;
        urls[count++] = word;
    }
    int result = cached_status(cache, urls, count, images);
    for (size_t number = 0; result == 0 && number < count; number++) print_image("item", &images[number]);
    printf("status %d\n", result);
}

static void file(cached *cache, const char *url) {
    int descriptor = cached_open_file(cache, url);
    struct stat status;
    if (descriptor < 0) {
        printf("file %d\n", descriptor);
        return;
    }
    fstat(descriptor, &status);
    printf("file %lld\n", (long long)status.st_size);
    close(descriptor);
}

static void run(cached *cache, char *line) {
    line[strcspn(line, "\n")] = 0;
    char *argument = strchr(line, ' ');
    if (argument != NULL) *argument++ = 0;
    cached_image image = CACHED_IMAGE_INIT;
    char name[37];
    if (strcmp(line, "name") == 0) {
        cached_name(argument, name);
        printf("name %s\n", name);
    } else if (strcmp(line, "peek") == 0) {
        cached_peek(cache, argument, &image);
        print_image("peek", &image);
    } else if (strcmp(line, "want") == 0) {
        want(cache, argument != NULL ? argument : line + strlen(line));
    } else if (strcmp(line, "want-many") == 0) {
        want_many(cache, argument);
    } else if (strcmp(line, "news") == 0) {
        news(cache, atoi(argument));
    } else if (strcmp(line, "file") == 0) {
        file(cache, argument);
    } else if (strcmp(line, "pin") == 0) {
        printf("pin %d\n", cached_pin(cache, argument, 1));
    } else if (strcmp(line, "add") == 0) {
        add(cache, argument);
    } else if (strcmp(line, "drop") == 0) {
        printf("drop %d\n", cached_drop(cache, argument));
    } else if (strcmp(line, "get") == 0 || strcmp(line, "refresh") == 0) {
        get(cache, argument, line[0] == 'r');
    } else if (strcmp(line, "status") == 0) {
        status(cache, argument);
    } else if (strcmp(line, "remove") == 0) {
        printf("remove %d\n", cached_remove(cache, argument));
    } else if (strcmp(line, "remove-account") == 0) {
        printf("remove %d\n", cached_remove_account(cache, argument));
    } else if (strcmp(line, "import") == 0) {
        char *path = strchr(argument, ' ');
        *path++ = 0;
        printf("import %d\n", cached_import(cache, argument, path));
    } else if (strcmp(line, "available") == 0) {
        printf("available %d\n", cached_is_available(cache));
    } else if (strcmp(line, "start") == 0) {
        cached_set_start(cache, atoi(argument));
    } else if (strcmp(line, "stand-in") == 0) {
        cached_peek(cache, argument, &image);
        printf("stand-in %s\n", or_dash(image.stand_in));
    } else if (strcmp(line, "identity") == 0) {
        cached_peek(cache, argument, &image);
        printf("identity %llu\n", (unsigned long long)image.identity);
    } else if (strcmp(line, "pressure") == 0) {
        printf("pressure %d\n", cached_pressure(cache));
    }
}

int main(int count, char **arguments) {
    if (count != 4) return 64;
    setvbuf(stdout, NULL, _IOLBF, 0);
    cached *cache = cached_open(arguments[1], arguments[2]);
    if (cache == NULL) return 71;
    cached_set_patience(cache, atoi(arguments[3]));
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0 && strcmp(line, "end\n") != 0) run(cache, line);
    free(line);
    cached_close(cache);
    return 0;
}
