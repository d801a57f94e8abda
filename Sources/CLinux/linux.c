#define _GNU_SOURCE
#include "CLinux.h"

#include <sys/prctl.h>

void clinux_name_thread(const char *name) {
    prctl(PR_SET_NAME, name);
}

int clinux_start_writeback(int descriptor) {
    return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
}
