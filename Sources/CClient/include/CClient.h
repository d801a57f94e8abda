/// The system calls of the client library that Swift does not import by itself.
#ifndef CCLIENT_H
#define CCLIENT_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

int cclient_errno(void);

/// What matters about a file.
struct cclient_file {
    int is_regular, is_directory, is_link;
    /// Whether its owner may read it.
    int is_readable;
    uint32_t owner;
    int64_t size;
    /// Another number for another file, even one that has the inode of an earlier file; never 0.
    uint64_t identity;
};

/// Looks at a path without following a link at its end; -1 with errno. statx(2).
int cclient_look(const char *path, struct cclient_file *file);

/// Looks at an open file; -1 with errno. statx(2).
int cclient_look_at(int descriptor, struct cclient_file *file);

/// Opens a regular file for reading, and looks at it; -1 with errno. It follows no link at the end of the path, and never
/// waits, not even for a FIFO. open(2), statx(2).
int cclient_open_file(const char *path, struct cclient_file *file);

/// A socket connected to a Unix path, without blocking; -1 with errno, which is EAGAIN if the daemon is there and too many
/// clients wait for it. unix(7).
int cclient_connect(const char *path);

/// Sends as much as the socket takes without blocking; -1 with errno. send(2).
ssize_t cclient_send(int descriptor, const void *bytes, size_t count);

/// Receives without blocking, with the descriptor of a regular file if one came with the bytes, else -1. Any other
/// descriptor that came is closed. recvmsg(2), `SCM_RIGHTS`.
ssize_t cclient_receive(int descriptor, void *bytes, size_t count, int *received);

/// Waits until a descriptor is readable, or perhaps writable, for so many milliseconds. Returns whether it is. poll(2).
int cclient_wait(int descriptor, int with_output, int milliseconds);

/// Whether another process has the write lock of an open file. fcntl(2), `F_OFD_GETLK`.
int cclient_is_held(int descriptor);

/// An epoll instance. epoll_create(2).
int cclient_epoll(void);

/// Watches a descriptor with an epoll instance, for input and perhaps for output. epoll_ctl(2).
int cclient_watch(int epoll, int descriptor, int with_output);

/// A timer, disarmed. timerfd_create(2).
int cclient_timer(void);

/// Sets a timer to milliseconds from now; 0 disarms it. timerfd_settime(2).
void cclient_set_timer(int timer, int64_t milliseconds);

/// Milliseconds of a clock that never jumps. clock_gettime(2), `CLOCK_MONOTONIC`.
int64_t cclient_now(void);

/// Finds a program by its name in the absolute folders of `PATH`, or in the usual ones. Returns whether there is one.
int cclient_find(const char *name, char *path, size_t room);

/// A program that was started.
struct cclient_child {
    pid_t process;
    /// Becomes readable when the program has ended; -1 if the kernel has no such descriptors. pidfd_open(2).
    int end;
    /// What the program writes to its standard error. Reading it never waits.
    int errors;
};

/// Starts a program in a session of its own, with this environment, default signals, /dev/null for its standard input and
/// output, and no other descriptors. The caller closes those of the child. Returns 0 or an errno. posix_spawn(3).
int cclient_spawn(const char *program, char *const *arguments, struct cclient_child *child);

/// Whether a program has ended, and with which exit status: 128 and more for a signal, -1 if nobody knows. Never waits.
/// waitpid(2).
int cclient_has_ended(const struct cclient_child *child, int *status);

#endif
