#define _GNU_SOURCE
#include "CClient.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>

int cclient_errno(void) { return errno; }

static int describe(int result, const struct stat *status, struct cclient_file *file) {
    if (result != 0) return -1;
    *file = (struct cclient_file){
        .is_regular = S_ISREG(status->st_mode), .is_directory = S_ISDIR(status->st_mode),
        .is_link = S_ISLNK(status->st_mode), .is_readable = (status->st_mode & S_IRUSR) != 0,
        .owner = status->st_uid, .size = status->st_size,
    };
    return 0;
}

int cclient_look(const char *path, struct cclient_file *file) {
    struct stat status;
    return describe(lstat(path, &status), &status, file);
}

int cclient_look_at(int descriptor, struct cclient_file *file) {
    struct stat status;
    return describe(fstat(descriptor, &status), &status, file);
}

int cclient_open_file(const char *path, struct cclient_file *file) {
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return -1;
    if (cclient_look_at(descriptor, file) == 0 && file->is_regular) return descriptor;
    close(descriptor);
    errno = EINVAL;
    return -1;
}

uint64_t cclient_inode(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? status.st_ino : 0;
}

int cclient_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, length);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int cause = errno;
    close(descriptor);
    errno = cause;
    return -1;
}

ssize_t cclient_send(int descriptor, const void *bytes, size_t count) {
    ssize_t sent;
    do {
        sent = send(descriptor, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

// Takes the first regular file, and closes all else that came. The kernel has closed what had no room (MSG_CTRUNC).
static void take_file(struct msghdr *message, int *received) {
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header != NULL;
         header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t number = 0; number < count; number++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + number * sizeof(int), sizeof descriptor);
            struct stat status;
            bool is_file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
            if (is_file && *received < 0) *received = descriptor;
            else close(descriptor);
        }
    }
}

ssize_t cclient_receive(int descriptor, void *bytes, size_t count, int *received) {
    struct iovec part = {bytes, count};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1,
        .msg_control = control.room, .msg_controllen = sizeof control.room,
    };
    *received = -1;
    ssize_t result;
    do {
        result = recvmsg(descriptor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (result < 0 && errno == EINTR);
    int cause = errno;
    if (result >= 0) take_file(&message, received);
    errno = cause;
    return result;
}

int cclient_wait(int descriptor, int with_output, int milliseconds) {
    struct pollfd entry = {.fd = descriptor, .events = POLLIN | (with_output ? POLLOUT : 0)};
    int64_t end = cclient_now() + milliseconds;
    int result;
    do {
        int64_t left = end - cclient_now();
        result = poll(&entry, 1, left > 0 ? (int)left : 0);
    } while (result < 0 && errno == EINTR);
    return result > 0;
}

int cclient_is_held(int descriptor) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int cclient_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }

int cclient_watch(int epoll, int descriptor, int with_output) {
    struct epoll_event event = {.events = EPOLLIN | (with_output ? EPOLLOUT : 0), .data.fd = descriptor};
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) == 0) return 0;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

int cclient_timer(void) {
    return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

void cclient_set_timer(int timer, int64_t milliseconds) {
    struct itimerspec time = {
        .it_value = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000},
    };
    timerfd_settime(timer, 0, &time, NULL);
}

int64_t cclient_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}
