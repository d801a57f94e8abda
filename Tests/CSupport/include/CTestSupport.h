// Calls that the C library declares only under _GNU_SOURCE, so that Swift's Glibc module lacks them.
// Every call that creates a descriptor also marks it close-on-exec: another thread can start a child
// at any moment.
#ifndef CTESTSUPPORT_H
#define CTESTSUPPORT_H

#include <stdbool.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/types.h>

/// Creates a pipe: index 0 is read, index 1 is written. Returns 0, or -1 with errno. pipe2(2).
int ctest_pipe(int ends[2]);

/// Creates a pseudo-terminal of the given size: index 0 is our side, index 1 is the terminal.
/// Returns 0, or -1 with errno. pty(7).
int ctest_terminal(int ends[2], int rows, int columns);

/// Accepts the next connection. Returns -1 with errno on failure. accept4(2).
int ctest_accept(int listening);

/// Creates an unnamed file in memory. Returns -1 with errno on failure. memfd_create(2).
int ctest_memory_file(void);

/// Makes the child close all descriptors from `lowest` up. Returns 0 or an errno.
/// posix_spawn_file_actions_addclosefrom_np(3).
int ctest_close_from(posix_spawn_file_actions_t *actions, int lowest);

/// Reads an attribute without following links. Returns the value's size, or -1 with errno.
/// lgetxattr(2).
ssize_t ctest_get_attribute(const char *path, const char *name, void *value, size_t size);

/// Sets an attribute without following links. Returns 0, or -1 with errno. lsetxattr(2).
int ctest_set_attribute(
    const char *path, const char *name, const void *value, size_t size);

/// Reads the names of all attributes, each ended by a NUL. Returns their total size, or -1 with
/// errno. llistxattr(2).
ssize_t ctest_list_attributes(const char *path, char *names, size_t size);

/// Shuts a file system down as a power cut does: data that is not on its disk now is lost. `how` 0
/// flushes everything first, 1 only the journal, 2 nothing. Returns 0, or -1 with errno.
/// ioctl_ext4(2), `EXT4_IOC_SHUTDOWN`.
int ctest_shut_down(const char *path, unsigned how);

/// Stops one thread of a child, until this thread lets it go on or ends. Returns 0, or -1 with errno.
/// ptrace(2), `PTRACE_SEIZE`.
int ctest_freeze_thread(int thread);
int ctest_thaw_thread(int thread);

/// Has a thread of a child make a system call, as its own code would: it has to wait in one. Gives the result, or the
/// negative error. Only on x86-64. Returns 0, or -1 with errno. ptrace(2), syscall(2).
int ctest_call_inside(int thread, long number, const long arguments[6], long *result);

/// The number of configured processors. sysconf(3), `_SC_NPROCESSORS_CONF`.
int ctest_processors(void);

/// Receives bytes from a Unix socket, and a descriptor that came with them, else -1; blocks. unix(7), `SCM_RIGHTS`.
ssize_t ctest_receive(int socket, void *bytes, size_t size, int *descriptor);

/// Sends with descriptors. sendmsg(2), `SCM_RIGHTS`.
ssize_t ctest_send(int socket, const void *bytes, size_t size, const int *descriptors, size_t count);

/// Pins the calling thread to a processor, with real-time priority if this user is allowed that.
/// sched_setaffinity(2), sched(7).
void ctest_stay_on(int processor);

/// The states that the directory alone tells.
enum ctest_state { CTEST_MISSING, CTEST_INTERRUPTED, CTEST_IN_FLIGHT, CTEST_CACHED };

/// What a program without the daemon finds under a name. The total is -1 if it is unknown.
struct ctest_image {
    enum ctest_state state;
    long long received, total;
};

struct ctest_image ctest_read_image(const char *directory, const char *name);

#endif
