#define _GNU_SOURCE
#include "CTestSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

// The steps of docs/disk-format.md, "Reading without the daemon".

// RFC 1952 §8.
static unsigned crc32_of(const char *bytes, size_t length) {
    unsigned sum = ~0u;
    for (size_t index = 0; index < length; index++) {
        sum ^= (unsigned char)bytes[index];
        for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320u : 0);
    }
    return ~sum;
}

// Whether a record ends with the checksum of all that is before it.
static bool is_intact(const char *record, size_t length) {
    if (length < 12 || strncmp(record + length - 12, "sum=", 4) != 0) return false;
    char sum[9];
    snprintf(sum, sizeof sum, "%08x", crc32_of(record, length - 12));
    return strcmp(record + length - 8, sum) == 0;
}

static bool is_cached(int directory, const char *name, uid_t owner) {
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (!S_ISREG(status.st_mode) || status.st_size == 0) return false;
    if (status.st_uid != owner || !(status.st_mode & S_IRUSR)) return false;
    char path[64], attribute[32], record[4097], expected[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, name);
    snprintf(attribute, sizeof attribute, "user.cached.%.8s", name);
    ssize_t length = lgetxattr(path, attribute, record, sizeof record - 1);
    if (length <= 0) return false;
    record[length] = 0;
    int count = snprintf(expected, sizeof expected, "v1 size=%lld ", (long long)status.st_size);
    return strncmp(record, expected, (size_t)count) == 0 && is_intact(record, (size_t)length);
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
