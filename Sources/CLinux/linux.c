#define _GNU_SOURCE
#include "CLinux.h"

#include <sys/prctl.h>
#include <sys/socket.h>

void clinux_name_thread(const char *name) {
    prctl(PR_SET_NAME, name);
}

int clinux_sync_file_system(int descriptor) {
    return syncfs(descriptor);
}

int clinux_start_writeback(int descriptor) {
    return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int clinux_peer_of(int descriptor, struct clinux_peer *peer) {
    struct ucred credentials = {.pid = 0};
    socklen_t length = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    *peer = (struct clinux_peer){credentials.pid, credentials.uid, credentials.gid};
    return 0;
}
