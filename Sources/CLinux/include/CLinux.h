// Linux headers that Swift's Glibc module leaves out.
#ifndef CLINUX_H
#define CLINUX_H

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/// flock(2), whose name in Swift is that of a struct.
static inline int clinux_flock(int descriptor, int operation) {
    return flock(descriptor, operation);
}

/// Who is at the other end of a Unix socket.
struct clinux_peer {
    int process;
    unsigned user, group;
};

/// Returns 0, or -1 with errno. socket(7), `SO_PEERCRED`.
int clinux_peer_of(int descriptor, struct clinux_peer *peer);

/// Puts /dev/null where standard input, output or error are closed, so that nothing opened later is taken
/// for them; there it can neither be read nor written. To be called before anything is opened. fcntl(2),
/// open(2)
void clinux_take_standard_descriptors(void);

/// Remembers a SIGTERM or SIGINT instead of ending by it; a second one ends the process. signal(7)
void clinux_remember_end(void);
/// Raises the signal that was remembered, if any, for whoever takes it now.
void clinux_raise_remembered_end(void);

/// Names the calling thread; 15 bytes are kept. prctl(2), `PR_SET_NAME`.
void clinux_name_thread(const char *name);

/// Lets the calling thread, and those it starts, run only where nobody else wants to: for the processor
/// and, where the scheduler of the disk knows that, for it too. setpriority(2), ioprio_set(2).
void clinux_lower_priority(void);

/// Lets the calling thread run only on a processor that has nothing else to do, and gives way at once to
/// whatever comes. sched(7), `SCHED_IDLE`.
void clinux_run_when_idle(void);

/// Flags of open(2) that Swift does not see because they need _GNU_SOURCE: a descriptor for whatever
/// lies under a name, without opening it; reading that leaves no trace in the access time; a new file
/// without a name.
extern const int clinux_o_path, clinux_o_noatime, clinux_o_tmpfile;

/// An attribute of a name in a directory, without opening the file and without following a link:
/// getxattrat(2), since Linux 6.13; before that lgetxattr(2) through /proc/self/fd.
ssize_t clinux_getxattrat(
    int directory, const char *name, const char *attribute, void *value, size_t size);

/// Gives a file that was made without a name its first one, where nothing has that name; -1 with errno.
/// linkat(2), `AT_EMPTY_PATH`; before Linux 6.10 that takes a capability, or a path in /proc, as open(2) says
/// of `O_TMPFILE`.
int clinux_link_file(int descriptor, int directory, const char *name);

/// Makes a descriptor lead to what another leads to, in one step for all who use it; -1 with errno.
/// dup3(2), which needs _GNU_SOURCE too.
int clinux_replace(int descriptor, int other);

/// Writes everything of the file system a descriptor lies on, and waits; needs _GNU_SOURCE too.
/// syncfs(2).
int clinux_sync_file_system(int descriptor);

/// Starts writing the dirty pages of a file without waiting for them, which Swift does not see
/// because it needs _GNU_SOURCE. sync_file_range(2).
int clinux_start_writeback(int descriptor);

/// Waits for what of a file is being written, and writes nothing; -1 with errno also where something of it
/// could not be written before, whoever wanted it written, once for each opening. sync_file_range(2).
int clinux_wait_for_writeback(int descriptor);

/// Takes one from a semaphore, waiting for it so many nanoseconds at most, whatever is done to the
/// clock; needs _GNU_SOURCE too. sem_clockwait(3).
void clinux_wait(sem_t *semaphore, long nanoseconds);

#endif
