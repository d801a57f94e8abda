// Calls that the C library declares for _GNU_SOURCE only, and Swift's Glibc module therefore leaves
// out. All that make descriptors mark them close-on-exec in the same call: children are started at
// the same time on another thread.
#ifndef CTESTSUPPORT_H
#define CTESTSUPPORT_H

#include <spawn.h>
#include <sys/inotify.h>
#include <sys/types.h>

/// Makes a pipe: 0 is read, 1 is written. 0, or -1 with errno. pipe2(2).
int ctest_pipe(int ends[2]);

/// Makes a pseudo-terminal of a size: 0 is our side, 1 the terminal. 0, or -1 with errno. pty(7).
int ctest_terminal(int ends[2], int rows, int columns);

/// The next connection, or -1 with errno. accept4(2).
int ctest_accept(int listening);

/// A nameless file in memory, or -1 with errno. memfd_create(2).
int ctest_memory_file(void);

/// Has the child close all descriptors from `lowest` on. 0 or an errno.
/// posix_spawn_file_actions_addclosefrom_np(3).
int ctest_close_from(posix_spawn_file_actions_t *actions, int lowest);

/// The size of an attribute's value, links not followed, or -1 with errno. lgetxattr(2).
ssize_t ctest_get_attribute(const char *path, const char *name, void *value, size_t size);

/// Sets an attribute, links not followed. 0, or -1 with errno. lsetxattr(2).
int ctest_set_attribute(
    const char *path, const char *name, const void *value, size_t size);

/// The names of all attributes, each with its NUL; their size, or -1 with errno. llistxattr(2).
ssize_t ctest_list_attributes(const char *path, char *names, size_t size);

/// Ends a file system as a power cut does: whatever is not on its disk now will never be. 0 flushes all
/// before, 1 the journal, 2 nothing. 0, or -1 with errno. ioctl_ext4(2), `EXT4_IOC_SHUTDOWN`.
int ctest_shut_down(const char *path, unsigned how);

/// How many processors there are. sysconf(3), `_SC_NPROCESSORS_CONF`.
int ctest_processors(void);

/// Keeps the calling thread on a processor, before all others if this user may have it so.
/// sched_setaffinity(2), sched(7).
void ctest_stay_on(int processor);

#endif
