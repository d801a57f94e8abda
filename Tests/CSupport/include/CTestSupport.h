// Calls that the C library declares for _GNU_SOURCE only, and Swift's Glibc module therefore leaves
// out. All that make descriptors mark them close-on-exec in the same call: children are started at
// the same time on another thread.
#ifndef CTESTSUPPORT_H
#define CTESTSUPPORT_H

#include <spawn.h>

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

#endif
