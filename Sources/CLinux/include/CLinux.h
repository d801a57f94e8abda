// Linux headers that Swift's Glibc module leaves out.
#ifndef CLINUX_H
#define CLINUX_H

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
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

/// Names the calling thread; 15 bytes are kept. prctl(2), `PR_SET_NAME`.
void clinux_name_thread(const char *name);

/// Writes everything of the file system a descriptor lies on, and waits; needs _GNU_SOURCE too.
/// syncfs(2).
int clinux_sync_file_system(int descriptor);

/// Starts writing the dirty pages of a file without waiting for them, which Swift does not see
/// because it needs _GNU_SOURCE. sync_file_range(2).
int clinux_start_writeback(int descriptor);

#endif
