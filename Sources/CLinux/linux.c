#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <linux/fs.h>
#include <linux/ioprio.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void clinux_name_thread(const char *name) {
    prctl(PR_SET_NAME, name);
}

void clinux_lower_priority(void) {
    // For this thread alone, unlike in POSIX.
    setpriority(PRIO_PROCESS, 0, 19);
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

void clinux_take_standard_descriptors(void) {
    // open(2) takes the lowest free descriptor.
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0)
            open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

// Written by the thread that gets the signal. Lock-free atomics are safe in a handler; signal-safety(7).
static _Atomic int remembered_end;

static void remember_end(int number) {
    if (remembered_end != 0) {
        signal(number, SIG_DFL);
        raise(number);
    }
    remembered_end = number;
}

void clinux_remember_end(void) {
    signal(SIGTERM, remember_end);
    signal(SIGINT, remember_end);
}

void clinux_raise_remembered_end(void) {
    if (remembered_end != 0) kill(getpid(), remembered_end);
}

const int clinux_o_path = O_PATH;
const int clinux_o_noatime = O_NOATIME;
const int clinux_o_tmpfile = O_TMPFILE;

// getxattrat(2), newer than most headers; the number is the same on every architecture but alpha.
#ifndef SYS_getxattrat
#define SYS_getxattrat 464
#endif

// struct xattr_args of linux/xattr.h.
struct arguments {
    uint64_t value __attribute__((aligned(8)));
    uint32_t size;
    uint32_t flags;
};

ssize_t clinux_getxattrat(
    int directory, const char *name, const char *attribute, void *value, size_t size) {
    static atomic_bool missing;
    if (!atomic_load_explicit(&missing, memory_order_relaxed)) {
        struct arguments arguments = {(uintptr_t)value, (uint32_t)size, 0};
        long count = syscall(
            SYS_getxattrat, directory, name, AT_SYMLINK_NOFOLLOW, attribute, &arguments,
            sizeof arguments);
        // Some containers answer unknown calls with EPERM.
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
        atomic_store_explicit(&missing, true, memory_order_relaxed);
    }
    char path[64 + NAME_MAX];
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, name);
    return lgetxattr(path, attribute, value, size);
}

int clinux_rename_new(int directory, const char *old_name, const char *new_name) {
    return renameat2(directory, old_name, directory, new_name, RENAME_NOREPLACE);
}

int clinux_link_file(int descriptor, int directory, const char *name) {
    // Kernels that need the path answer ENOENT.
    if (linkat(descriptor, "", directory, name, AT_EMPTY_PATH) == 0) return 0;
    if (errno != ENOENT) return -1;
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW);
}

int clinux_clone(int original, int copy) {
    return ioctl(copy, FICLONE, original);
}

int clinux_replace(int descriptor, int other) {
    return dup3(other, descriptor, O_CLOEXEC);
}

int clinux_sync_file_system(int descriptor) {
    return syncfs(descriptor);
}

int clinux_start_writeback(int descriptor) {
    return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int clinux_wait_for_writeback(int descriptor) {
    return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE);
}

int clinux_peer_of(int descriptor, struct clinux_peer *peer) {
    struct ucred credentials = {.pid = 0};
    socklen_t length = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    *peer = (struct clinux_peer){credentials.pid, credentials.uid, credentials.gid};
    return 0;
}

// Not in the headers of every C library.
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

int clinux_peer_process(int descriptor) {
    int process = -1;
    socklen_t length = sizeof process;
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERPIDFD, &process, &length) == 0 ? process : -1;
}

int clinux_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

// Not in the headers of every C library.
#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

int clinux_peer_groups(int descriptor, unsigned *groups, int capacity) {
    socklen_t length = capacity * sizeof *groups;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, groups, &length) != 0) return -1;
    return length / sizeof *groups;
}

void clinux_wait(sem_t *semaphore, long nanoseconds) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    nanoseconds += time.tv_nsec;
    time.tv_sec += nanoseconds / 1000000000;
    time.tv_nsec = nanoseconds % 1000000000;
    sem_clockwait(semaphore, CLOCK_MONOTONIC, &time);
}

int clinux_hold(int descriptor) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

static ssize_t send_descriptors(
    int socket, const void *bytes, size_t size, const int *descriptors, size_t count, int flags
) {
    struct iovec part = {(void *)bytes, size};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1,
        .msg_control = control.room, .msg_controllen = CMSG_SPACE(count * sizeof(int)),
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
    ssize_t sent;
    do {
        sent = sendmsg(socket, &message, flags | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t clinux_send_descriptor(int socket, const void *bytes, size_t size, int descriptor) {
    return send_descriptors(socket, bytes, size, &descriptor, 1, MSG_DONTWAIT);
}

ssize_t clinux_send_descriptors(int socket, const void *bytes, size_t size, int first, int second) {
    return send_descriptors(socket, bytes, size, (int[]){first, second}, 2, 0);
}

int clinux_start(const char *program, int seconds, int *process) {
    enum { descriptor = 3 };
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return -1;
    struct timeval time = {.tv_sec = seconds};
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t signals;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pair[1], descriptor);
    posix_spawnattr_init(&attributes);
    // The signals that this process blocks or ignores.
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigaddset(&signals, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    char *words[] = {(char *)program, NULL}, *environment[] = {"LC_ALL=C", NULL};
    int failure = posix_spawn(process, program, &actions, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    if (failure == 0) return pair[0];
    close(pair[0]);
    errno = failure;
    return -1;
}

int clinux_memory_file(void) {
    return memfd_create("picture", MFD_CLOEXEC);
}

int clinux_unreceived(int socket) {
    int bytes = 0;
    return ioctl(socket, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

int clinux_network_watch(void) {
    int watch = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (watch < 0) return -1;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
    };
    if (bind(watch, (struct sockaddr *)&address, sizeof address) == 0) return watch;
    int error = errno;
    close(watch);
    errno = error;
    return -1;
}

// Whether a message concerns the way to other hosts. Containers come and go with link-local addresses.
static bool is_network_change(const struct nlmsghdr *message) {
    switch (message->nlmsg_type) {
    case RTM_NEWADDR:
    case RTM_DELADDR:
        return ((const struct ifaddrmsg *)NLMSG_DATA(message))->ifa_scope < RT_SCOPE_LINK;
    case RTM_NEWROUTE:
    case RTM_DELROUTE: {
        const struct rtmsg *route = NLMSG_DATA(message);
        return route->rtm_dst_len == 0 && route->rtm_type == RTN_UNICAST;
    }
    default: return false;
    }
}

bool clinux_network_changed(int watch) {
    _Alignas(struct nlmsghdr) char buffer[8192];
    bool has_changed = false;
    for (;;) {
        ssize_t length = recv(watch, buffer, sizeof buffer, 0);
        if (length < 0 && errno == EINTR) continue;
        if (length < 0 && errno == ENOBUFS) {
            has_changed = true;
            continue;
        }
        if (length <= 0) return has_changed;
        const struct nlmsghdr *message = (const struct nlmsghdr *)buffer;
        for (unsigned left = (unsigned)length; NLMSG_OK(message, left);
             message = NLMSG_NEXT(message, left))
            has_changed = has_changed || is_network_change(message);
    }
}
