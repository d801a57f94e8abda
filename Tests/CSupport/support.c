#define _GNU_SOURCE
#include "CTestSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

int ctest_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC);
}

int ctest_terminal(int ends[2], int rows, int columns) {
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[0] < 0) return -1;
    char name[64];
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    if (grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0 &&
        ptsname_r(ends[0], name, sizeof name) == 0) {
        ends[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (ends[1] >= 0) return ioctl(ends[1], TIOCSWINSZ, &size);
    }
    int reason = errno;
    close(ends[0]);
    errno = reason;
    return -1;
}

int ctest_accept(int listening) {
    return accept4(listening, NULL, NULL, SOCK_CLOEXEC);
}

int ctest_memory_file(void) {
    return memfd_create("input", MFD_CLOEXEC);
}

int ctest_close_from(posix_spawn_file_actions_t *actions, int lowest) {
    return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
}

ssize_t ctest_get_attribute(const char *path, const char *name, void *value, size_t size) {
    return lgetxattr(path, name, value, size);
}

int ctest_set_attribute(
    const char *path, const char *name, const void *value, size_t size) {
    return lsetxattr(path, name, value, size, 0);
}

ssize_t ctest_list_attributes(const char *path, char *names, size_t size) {
    return llistxattr(path, names, size);
}

// The kernel's headers call this EXT4_IOC_SHUTDOWN. XFS introduced it under the same number.
#define SHUT_DOWN_FILE_SYSTEM _IOR('X', 125, uint32_t)

int ctest_shut_down(const char *path, unsigned how) {
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return -1;
    uint32_t flags = how;
    int result = ioctl(directory, SHUT_DOWN_FILE_SYSTEM, &flags);
    int reason = errno;
    close(directory);
    errno = reason;
    return result;
}

int ctest_processors(void) {
    return (int)sysconf(_SC_NPROCESSORS_CONF);
}

void ctest_stay_on(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
    struct sched_param first = {.sched_priority = 1};
    sched_setscheduler(0, SCHED_FIFO, &first);
}

ssize_t ctest_receive(int socket, void *bytes, size_t size, int *descriptor) {
    struct iovec part = {bytes, size};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1,
        .msg_control = control.room, .msg_controllen = sizeof control.room,
    };
    *descriptor = -1;
    ssize_t count;
    do {
        count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (count < 0 && errno == EINTR);
    struct cmsghdr *header = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        memcpy(descriptor, CMSG_DATA(header), sizeof *descriptor);
    }
    return count;
}

ssize_t ctest_send(
    int socket, const void *bytes, size_t size, const int *descriptors, size_t count) {
    struct iovec part = {(void *)bytes, size};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(16 * sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0 && count <= 16) {
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(&control.header), descriptors, count * sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

int ctest_freeze_thread(int thread) {
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0) return -1;
    if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0) return -1;
    int status;
    return waitpid(thread, &status, __WALL) == thread ? 0 : -1;
}

int ctest_thaw_thread(int thread) {
    return ptrace(PTRACE_DETACH, thread, NULL, NULL) == 0 ? 0 : -1;
}

#ifdef __x86_64__

static bool is_syscall(int thread, unsigned long long address) {
    return (ptrace(PTRACE_PEEKTEXT, thread, (void *)address, NULL) & 0xffff) == 0x050f;
}

/// Runs the instruction of the system call in which the frozen thread waits, or that comes next, with other registers.
static int call_frozen(int thread, long number, const long arguments[6], long *result) {
    struct user_regs_struct before, during;
    if (ptrace(PTRACE_GETREGS, thread, NULL, &before) != 0) return -1;
    during = before;
    if (!is_syscall(thread, during.rip)) during.rip -= 2;
    if (!is_syscall(thread, during.rip)) {
        errno = EAGAIN;
        return -1;
    }
    // The call in which it waits is begun again afterwards, and not now.
    during.orig_rax = (unsigned long long)-1;
    during.rax = (unsigned long long)number;
    during.rdi = (unsigned long long)arguments[0], during.rsi = (unsigned long long)arguments[1];
    during.rdx = (unsigned long long)arguments[2], during.r10 = (unsigned long long)arguments[3];
    during.r8 = (unsigned long long)arguments[4], during.r9 = (unsigned long long)arguments[5];
    int status = 0;
    if (ptrace(PTRACE_SETREGS, thread, NULL, &during) != 0 ||
        ptrace(PTRACE_SINGLESTEP, thread, NULL, NULL) != 0 ||
        waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status) ||
        ptrace(PTRACE_GETREGS, thread, NULL, &during) != 0)
        return -1;
    *result = (long)during.rax;
    return ptrace(PTRACE_SETREGS, thread, NULL, &before) == 0 ? 0 : -1;
}

int ctest_call_inside(int thread, long number, const long arguments[6], long *result) {
    int done = -1;
    for (int attempt = 0; done != 0 && attempt < 10000; attempt++) {
        if (ctest_freeze_thread(thread) != 0) return -1;
        done = call_frozen(thread, number, arguments, result);
        int reason = errno;
        if (ctest_thaw_thread(thread) != 0) return -1;
        errno = reason;
        if (done != 0 && reason != EAGAIN) return -1;
        // It runs.
        if (done != 0) usleep(1000);
    }
    return done;
}

#else

int ctest_call_inside(int thread, long number, const long arguments[6], long *result) {
    (void)thread, (void)number, (void)arguments, (void)result;
    errno = ENOSYS;
    return -1;
}

#endif
