// Linux headers that Swift's Glibc module leaves out.
#ifndef CLINUX_H
#define CLINUX_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
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

/// Takes the write lock of a whole open file description; -1 with errno. fcntl(2), `F_OFD_SETLK`.
int clinux_hold(int descriptor);

/// The process at the other end of a Unix socket.
struct clinux_peer {
    int process;
    unsigned user, group;
};

/// Returns 0, or -1 with errno. socket(7), `SO_PEERCRED`.
int clinux_peer_of(int descriptor, struct clinux_peer *peer);
/// A descriptor of the process at the other end of a socket; -1 if it is gone, or the kernel is older than 6.5. unix(7),
/// `SO_PEERPIDFD`.
int clinux_peer_process(int descriptor);

/// The supplementary groups of that process; how many, or -1 with errno. socket(7), `SO_PEERGROUPS`.
int clinux_peer_groups(int descriptor, unsigned *groups, int capacity);

/// Accepts a client; -1 with errno. Its socket does not block, and is not for programs that this process may start.
/// accept4(2), which needs _GNU_SOURCE.
int clinux_accept(int listener);

/// Opens /dev/null for each of standard input, output and error that is closed, so that no file opened later
/// is mistaken for them. It can be neither read nor written there. Call it before anything is opened. fcntl(2),
/// open(2)
void clinux_take_standard_descriptors(void);

/// Remembers a SIGTERM or SIGINT instead of ending the process. A second one ends it. signal(7)
void clinux_remember_end(void);
/// Raises the signal that was remembered, if any, which is held now.
void clinux_raise_remembered_end(void);

/// Sends bytes with a descriptor over a Unix socket, without blocking; how many bytes, or -1 with errno.
/// unix(7), `SCM_RIGHTS`.
ssize_t clinux_send_descriptor(int socket, const void *bytes, size_t size, int descriptor);

/// Starts a program with one end of a socket pair as its descriptor 3. Returns the other end, on which receiving and
/// sending last so many seconds at most; -1 with errno. unix(7), `SOCK_SEQPACKET`; posix_spawn(3).
int clinux_start(const char *program, int seconds, int *process);

/// Sends bytes with two descriptors over a Unix socket; how many bytes, or -1 with errno. unix(7), `SCM_RIGHTS`.
ssize_t clinux_send_descriptors(int socket, const void *bytes, size_t size, int first, int second);

/// A file in memory that has no name; -1 with errno. memfd_create(2), which needs _GNU_SOURCE too.
int clinux_memory_file(void);

/// Bytes that a connection of TCP has brought, read or not; -1 with errno. tcp(7), `TCP_INFO`.
long long clinux_received(int socket);

/// Bytes of memory that messages take which the other end of a Unix socket has not received. ioctl(2), `SIOCOUTQ`.
int clinux_unreceived(int socket);

/// A socket that reports changes of the machine's addresses and routes; -1 with errno. rtnetlink(7).
int clinux_network_watch(void);
/// Reads all that the socket reports. Returns whether an address other than a link-local one, or a default route,
/// came or went. Reports that were lost count.
bool clinux_network_changed(int watch);

/// Names the calling thread; 15 bytes are kept. prctl(2), `PR_SET_NAME`.
void clinux_name_thread(const char *name);

/// Gives the calling thread, and the threads it starts, the lowest priority for the processor, and for the disk if
/// its scheduler knows priorities. setpriority(2), ioprio_set(2).
void clinux_lower_priority(void);

/// Flags of open(2) that Swift does not see because they need _GNU_SOURCE: a descriptor that refers to a file
/// without opening it; reading that does not change the access time; a new file without a name.
extern const int clinux_o_path, clinux_o_noatime, clinux_o_tmpfile;

/// An attribute of a name in a directory, without opening the file and without following a link:
/// getxattrat(2), since Linux 6.13; before that lgetxattr(2) through /proc/self/fd.
ssize_t clinux_getxattrat(
    int directory, const char *name, const char *attribute, void *value, size_t size);

/// Gives an open file another name, or its first one; -1 with errno, also if something has that name.
/// linkat(2), `AT_EMPTY_PATH`. Before Linux 6.10 that takes a capability, or a path in /proc; see `O_TMPFILE` in
/// open(2).
int clinux_link_file(int descriptor, int directory, const char *name);

/// Renames within a directory; -1 with errno, also if something has the new name or the file system cannot tell.
/// renameat2(2), `RENAME_NOREPLACE`, which needs _GNU_SOURCE too.
int clinux_rename_new(int directory, const char *old_name, const char *new_name);

/// Makes a file share the blocks of another one, on file systems that can; -1 with errno. ioctl_ficlone(2)
int clinux_clone(int original, int copy);

/// Makes a descriptor refer to the file of another one, in one step for all its users; -1 with errno.
/// dup3(2), which needs _GNU_SOURCE too.
int clinux_replace(int descriptor, int other);

/// Writes everything of the file system of a descriptor, and waits; needs _GNU_SOURCE too.
/// syncfs(2).
int clinux_sync_file_system(int descriptor);

/// Starts writing the dirty pages of a file, and does not wait; needs _GNU_SOURCE too. sync_file_range(2).
int clinux_start_writeback(int descriptor);

/// Waits for the pages of a file that are being written, and writes nothing. Returns -1 with errno if bytes of the
/// file could not be written, now or before; a loss is reported once for each open descriptor. sync_file_range(2).
int clinux_wait_for_writeback(int descriptor);

/// Decrements a semaphore, and waits for that a number of nanoseconds at most, even if the clock is set meanwhile;
/// needs _GNU_SOURCE too. sem_clockwait(3).
void clinux_wait(sem_t *semaphore, long nanoseconds);

/// The functions below restrict the calling thread and all that it starts, for good. They return 0, or -1 with errno.

/// No program that is started can gain privileges. prctl(2), `PR_SET_NO_NEW_PRIVS`.
int clinux_forbid_privileges(void);

/// Gives up all capabilities except those of the mask, whose bits are the numbers of capabilities(7).
int clinux_keep_capabilities(unsigned long long kept);

/// What may be done with a file, or with all files below a directory.
enum clinux_access {
    /// To read files and directories.
    clinux_read,
    /// To read files, and to write to those that exist.
    clinux_write,
    /// To read and write files, and to make, name and remove them and directories.
    clinux_change,
    /// To remove files.
    clinux_remove,
    /// To read files, and to run those that are programs.
    clinux_run,
    /// To connect to sockets. Before Linux 7.1, that is possible everywhere.
    clinux_connect,
};

/// A set of paths to which access will be limited; its descriptor. landlock_create_ruleset(2).
///
/// Whether connect(2) to abstract sockets of other programs stays possible is a parameter. unix(7)
int clinux_paths_begin(bool uses_abstract_sockets);
/// Permits access to a path and all below it. Fails if there is no such path. landlock_add_rule(2).
int clinux_paths_add(int rules, const char *path, enum clinux_access access);
/// Opens, changes and connects to no other path from now on, binds no port of TCP, and signals no other process. Files that are open stay so. landlock_restrict_self(2).
int clinux_paths_enforce(int rules);

/// Fails all system calls that the daemon has no use for, among them those that start a program, debug another one
/// or change the system. seccomp(2).
///
/// Whether posix_spawn(3) stays possible is a parameter. Programs that it starts are restricted like this one.
int clinux_limit_calls(bool starts_programs);

/// Fails all system calls but these. Of clone(2), mmap(2) and mprotect(2), those stay that make threads, or memory that is
/// never both writable and executable. seccomp(2).
int clinux_limit_calls_to(const unsigned short *calls, size_t count);

#endif
