#define _GNU_SOURCE
#include "CTestSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

// The steps of docs/lookup/disk-format.md, "Reading without the daemon".

// RFC 1952 §8.
static uint32_t crc32_of(const unsigned char *bytes, size_t length) {
    uint32_t sum = ~0u;
    for (size_t index = 0; index < length; index++) {
        sum ^= bytes[index];
        for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320u : 0);
    }
    return ~sum;
}

static uint64_t number(const unsigned char *bytes, int count) {
    uint64_t number = 0;
    for (int index = count - 1; index >= 0; index--) number = number << 8 | bytes[index];
    return number;
}

// Whether a record of version 3 is intact, and says that the file has this size.
static bool agrees(const unsigned char *record, ssize_t length, off_t size) {
    if (length < 56 || memcmp(record, "v3", 2) != 0) return false;
    size_t end = (size_t)length - 4;
    return number(record + end, 4) == crc32_of(record, end)
        && number(record + 8, 8) == (uint64_t)size;
}

static bool is_cached(int directory, const char *name, uid_t owner) {
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (!S_ISREG(status.st_mode) || status.st_size == 0) return false;
    if (status.st_uid != owner || !(status.st_mode & S_IRUSR)) return false;
    char path[64], attribute[32];
    unsigned char record[1024];
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, name);
    snprintf(attribute, sizeof attribute, "user.cached.%.8s", name);
    ssize_t length = lgetxattr(path, attribute, record, sizeof record);
    return agrees(record, length, status.st_size);
}

static void read_partial(int directory, const char *name, struct ctest_image *image) {
    char partial[64];
    snprintf(partial, sizeof partial, "%s.part", name);
    int file = openat(directory, partial, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (file < 0) return;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        bool is_held = fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
        image->state = is_held ? CTEST_IN_FLIGHT : CTEST_INTERRUPTED;
        image->received = status.st_size;
        char total[24] = {0};
        if (fgetxattr(file, "user.cached.total", total, sizeof total - 1) > 0)
            image->total = atoll(total);
    }
    close(file);
}

struct ctest_image ctest_read_image(const char *directory, const char *name) {
    struct ctest_image image = {.state = CTEST_MISSING, .total = -1};
    int opened = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat status;
    if (opened < 0 || fstat(opened, &status) != 0) return image;
    if (is_cached(opened, name, status.st_uid)) {
        image.state = CTEST_CACHED;
    } else {
        read_partial(opened, name, &image);
        // It may have been published in between.
        if (image.state == CTEST_MISSING && is_cached(opened, name, status.st_uid))
            image.state = CTEST_CACHED;
    }
    close(opened);
    return image;
}
