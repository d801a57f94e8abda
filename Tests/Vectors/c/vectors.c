// What libcached makes of the vectors: vectors SOCKET, where it listens itself. vectors.py tells it what to do on
// standard input, in fields that end with a NUL:
//
//     name URL                              prints the name
//     peek DIRECTORY URL                    prints the image
//     play COUNT URL... LENGTH BYTES        wants the URLs and is their daemon: sends the bytes one by one, then cut
//                                           in two at every place; prints for each the images, and open or closed
//
// What it prints ends with a NUL too. A play that ends as the one before it prints nothing else.

#include "cached.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char *field(void) {
    char *text = NULL;
    size_t room = 0;
    if (getdelim(&text, &room, 0, stdin) > 0) return text;
    free(text);
    return NULL;
}

static const char *or_empty(const char *text) { return text != NULL ? text : ""; }

static void print(FILE *out, const cached_image *image) {
    static const char *const states[] = {"missing", "inFlight", "cached", "failed"};
    fprintf(out, "%s\x1f%s\x1f%lld\x1f%lld\x1f%s\x1f%s\x1e", image->url, states[image->state],
            (long long)image->received, (long long)image->total, or_empty(image->path), or_empty(image->kind));
}

/// Whether the library has closed its end of a connection. Reads what it has sent.
static int is_closed(int daemon) {
    char call[1 << 16];
    ssize_t count;
    while ((count = recv(daemon, call, sizeof call, MSG_DONTWAIT)) > 0) {}
    return count == 0;
}

/// Plays bytes in pieces: the first so long, then the rest; or all of them singly.
static void play(FILE *out, const struct sockaddr_un *address, int listener, char **urls, size_t count,
                 const char *bytes, size_t length, size_t first, int singly) {
    cached *cache = cached_open("/nonexistent", address->sun_path);
    cached_want(cache, (const char *const *)urls, NULL, count);
    int daemon = accept(listener, NULL, NULL);
    const char *end = "open";
    for (size_t sent = 0, piece; sent < length; sent += piece) {
        piece = singly ? 1 : sent < first ? first - sent : length - sent;
        if (send(daemon, bytes + sent, piece, MSG_NOSIGNAL) != (ssize_t)piece) exit(1);
        cached_image image = CACHED_IMAGE_INIT;
        while (cached_next(cache, &image) == 1) print(out, &image);
        if (!is_closed(daemon)) continue;
        end = "closed"; // It connects again, after a while.
        break;
    }
    fputs(end, out);
    cached_close(cache);
    close(daemon);
}

static void play_all(const struct sockaddr_un *address, int listener) {
    char *urls[64], *words[2], *before = NULL;
    size_t count = strtoul(words[0] = field(), NULL, 10);
    if (count > sizeof urls / sizeof *urls) exit(1);
    for (size_t i = 0; i < count; i++) urls[i] = field();
    size_t length = strtoul(words[1] = field(), NULL, 10);
    char *bytes = malloc(length + 1);
    if (fread(bytes, 1, length, stdin) != length) exit(1);
    for (size_t run = 0; run < length + 2; run++) {
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        play(out, address, listener, urls, count, bytes, length, run - 1, run == 0);
        fclose(out);
        if (before == NULL || strcmp(before, text) != 0) fputs(text, stdout);
        putchar(0);
        free(before);
        before = text;
    }
    for (size_t i = 0; i < count; i++) free(urls[i]);
    free(words[0]), free(words[1]), free(bytes), free(before);
}

static void peek(char *directory, char *url) {
    cached *cache = cached_open(directory, NULL);
    cached_image image = CACHED_IMAGE_INIT;
    cached_peek(cache, url, &image);
    print(stdout, &image);
    cached_close(cache);
    free(directory), free(url);
}

int main(int count, char **arguments) {
    if (count != 2) return 64;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, arguments[1], sizeof address.sun_path - 1);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 8) != 0) {
        perror(arguments[1]);
        return 1;
    }
    for (char *word; (word = field()) != NULL; free(word), fflush(stdout)) {
        if (strcmp(word, "name") == 0) {
            char name[37], *url = field();
            cached_name(url, name);
            fputs(name, stdout);
            free(url);
        } else if (strcmp(word, "peek") == 0) {
            char *directory = field();
            peek(directory, field());
        } else {
            play_all(&address, listener);
            continue;
        }
        putchar(0);
    }
    unlink(arguments[1]);
    return 0;
}
