#define _GNU_SOURCE
#include "CClient.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>

int cclient_errno(void) { return errno; }

// The time of birth tells a file from an earlier one whose inode it has got.
static uint64_t identity(const struct statx *status) {
    uint64_t born = 0;
    if (status->stx_mask & STATX_BTIME)
        born = (uint64_t)status->stx_btime.tv_sec * 1000000000 + status->stx_btime.tv_nsec;
    uint64_t number = (status->stx_ino * 0x9E3779B97F4A7C15 ^ born) * 0xBF58476D1CE4E5B9 ^ status->stx_size;
    return number != 0 ? number : 1;
}

static int describe(int directory, const char *path, int flags, struct cclient_file *file) {
    struct statx status;
    if (statx(directory, path, flags, STATX_BASIC_STATS | STATX_BTIME, &status) != 0) return -1;
    *file = (struct cclient_file){
        .is_regular = S_ISREG(status.stx_mode), .is_directory = S_ISDIR(status.stx_mode),
        .is_link = S_ISLNK(status.stx_mode), .is_readable = (status.stx_mode & S_IRUSR) != 0,
        .owner = status.stx_uid, .size = (int64_t)status.stx_size, .identity = identity(&status),
    };
    return 0;
}

int cclient_look(const char *path, struct cclient_file *file) {
    return describe(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, file);
}

int cclient_look_at(int descriptor, struct cclient_file *file) {
    return describe(descriptor, "", AT_EMPTY_PATH, file);
}

int cclient_open_file(const char *path, struct cclient_file *file) {
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return -1;
    if (cclient_look_at(descriptor, file) == 0 && file->is_regular) return descriptor;
    close(descriptor);
    errno = EINVAL;
    return -1;
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

// Takes the first regular file that was opened for reading alone, and closes all else that came. The kernel has closed what had no room (MSG_CTRUNC).
static void take_file(struct msghdr *message, int *received) {
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header != NULL;
         header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t number = 0; number < count; number++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + number * sizeof(int), sizeof descriptor);
            struct stat status;
            bool is_file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)
                && (fcntl(descriptor, F_GETFL) & (O_ACCMODE | O_PATH)) == O_RDONLY;
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

// MARK: Programs

int cclient_find(const char *name, char *path, size_t room) {
    const char *variable = getenv("PATH");
    const char *const lists[] = {variable != NULL ? variable : "", "/usr/local/bin:/usr/bin"};
    for (size_t number = 0; number < 2; number++) {
        for (const char *start = lists[number]; *start != 0;) {
            size_t length = strcspn(start, ":");
            struct stat status;
            if (*start == '/' && length + strlen(name) + 2 <= room) {
                memcpy(path, start, length);
                path[length] = '/';
                strcpy(path + length + 1, name);
                if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0) return 1;
            }
            start += length + (start[length] == ':');
        }
    }
    return 0;
}

// A descriptor above the standard ones, which the child gets in their place; -1 with errno.
static int above_standard(int descriptor) {
    if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
    int other = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(descriptor);
    return other;
}

static int spawn(const char *program, char *const *arguments, int null, int errors, pid_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t signals;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, null, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, null, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int result = posix_spawn(process, program, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

int cclient_spawn(const char *program, char *const *arguments, struct cclient_child *child) {
    int ends[2] = {-1, -1};
    int null = above_standard(open("/dev/null", O_RDWR | O_CLOEXEC));
    int result = null < 0 || pipe2(ends, O_CLOEXEC) != 0 ? errno : 0;
    if (result == 0) {
        ends[1] = above_standard(ends[1]);
        result = ends[1] < 0 ? errno : spawn(program, arguments, null, ends[1], &child->process);
    }
    if (null >= 0) close(null);
    if (ends[1] >= 0) close(ends[1]);
    if (result != 0) {
        if (ends[0] >= 0) close(ends[0]);
        return result;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    child->errors = ends[0];
    child->end = (int)syscall(SYS_pidfd_open, child->process, 0);
    return 0;
}

int cclient_has_ended(const struct cclient_child *child, int *status) {
    int raw = 0;
    pid_t result = waitpid(child->process, &raw, WNOHANG);
    if (result == 0 || (result < 0 && errno == EINTR)) return 0;
    // Without a child, somebody else has waited for it, or the program ignores SIGCHLD.
    *status = result < 0 ? -1 : WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
    return 1;
}
