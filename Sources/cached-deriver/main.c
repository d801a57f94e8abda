// Makes small pictures of large ones for cached: cached-deriver, started with a socket as descriptor 3.
//
// Each message on the socket is the longest side in pixels, an int, with two descriptors: the original, and an empty
// file for the picture. The answer is empty, or says why there is no picture. The program trusts neither the original
// nor itself: it loads all of its code first, and then gives up everything but reading and writing what it is handed.

#define _GNU_SOURCE
#include "CLinux.h"
#include "samples.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <vips/vips.h>
#include <vips/vector.h>

enum { requests = 3, warm_side = 8, seconds_of_processor = 10 };

/// Bytes of a picture: 2048 x 2048 pixels of four bytes, and a little more.
static const rlim_t largest_picture = 20 << 20;
/// Bytes of address space. A progressive JPEG of 100 megapixels takes 300 MB.
static const rlim_t most_memory = 3ul << 30;

/// All that is called after the start. Threads are made by libvips for each picture.
static const unsigned short calls[] = {
    SYS_read, SYS_pread64, SYS_write, SYS_pwrite64, SYS_lseek, SYS_close, SYS_fstat, SYS_newfstatat, SYS_mmap,
    SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_futex, SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_rt_sigaction, SYS_sigaltstack, SYS_clock_gettime, SYS_clock_nanosleep, SYS_gettimeofday, SYS_getrandom,
    SYS_exit, SYS_exit_group, SYS_sched_yield, SYS_sched_getaffinity, SYS_set_robust_list, SYS_rseq, SYS_gettid,
    SYS_getpid, SYS_tgkill, SYS_setitimer, SYS_fcntl, SYS_dup, SYS_recvmsg, SYS_sendmsg, SYS_sendto, SYS_sysinfo, SYS_getcpu, SYS_uname,
};

/// Whether a picture shows what lies behind it. An alpha channel alone does not say so: screenshots have one.
static gboolean is_transparent(VipsImage *picture) {
    VipsImage *alpha = NULL;
    double least = 255;
    if (!vips_image_hasalpha(picture)) return FALSE;
    if (vips_extract_band(picture, &alpha, picture->Bands - 1, NULL) != 0) return TRUE;
    if (vips_min(alpha, &least, NULL) != 0) least = 0;
    g_object_unref(alpha);
    return least < 255;
}

/// Encodes a picture of 8 bits a channel. Returns 0, or -1.
static int encode(VipsImage *picture, void **bytes, size_t *size) {
    if (is_transparent(picture)) return vips_pngsave_buffer(picture, bytes, size, "strip", TRUE, NULL);
    return vips_jpegsave_buffer(picture, bytes, size, "Q", 85, "strip", TRUE, NULL);
}

/// Converts a picture to sRGB by the profile that it carries, if it has one that fits. Returns 0, or -1.
static int to_srgb(VipsImage *picture, VipsImage **converted) {
    VipsInterpretation space = picture->Bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
    if (vips_image_get_typeof(picture, VIPS_META_ICC_NAME) != 0
        && vips_icc_transform(picture, converted, "srgb", "embedded", TRUE, NULL) == 0)
        return 0;
    vips_error_clear();
    return vips_colourspace(picture, converted, space, NULL);
}

/// The first picture of a file, upright, in sRGB, no larger than it was. Returns 0, or -1.
static int derive_from(VipsSource *source, int side, void **bytes, size_t *size) {
    VipsImage *thumbnail = NULL, *plain = NULL, *whole = NULL;
    int result = vips_thumbnail_source(source, &thumbnail, side, "height", side, "size", VIPS_SIZE_DOWN, NULL);
    if (result == 0) result = to_srgb(thumbnail, &plain);
    // It is read twice, for its transparency and to be encoded.
    if (result == 0) result = (whole = vips_image_copy_memory(plain)) == NULL ? -1 : 0;
    if (result == 0) result = encode(whole, bytes, size);
    if (whole != NULL) g_object_unref(whole);
    if (plain != NULL) g_object_unref(plain);
    if (thumbnail != NULL) g_object_unref(thumbnail);
    return result;
}

static int write_all(int file, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t written = write(file, bytes, size);
        if (written <= 0) return -1;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

/// Returns why there is no picture in the file; NULL if there is one.
static const char *derive(int original, int picture, int side) {
    void *bytes = NULL;
    size_t size = 0;
    const char *problem = NULL;
    VipsSource *source = vips_source_new_from_descriptor(original);
    if (source == NULL || derive_from(source, side, &bytes, &size) != 0) {
        problem = vips_error_buffer();
        if (*problem == 0) problem = "its decoder gives no reason";
    } else if (write_all(picture, bytes, size) != 0) {
        problem = "the picture could not be written";
    }
    if (source != NULL) g_object_unref(source);
    g_free(bytes);
    return problem;
}

// MARK: The start

/// Decodes a picture, so that all code for its format is loaded.
static void warm(const void *bytes, size_t size) {
    void *picture = NULL;
    size_t length = 0;
    VipsSource *source = vips_source_new_from_memory(bytes, size);
    if (source != NULL) derive_from(source, warm_side, &picture, &length);
    if (source != NULL) g_object_unref(source);
    g_free(picture);
    // A release without the format says so when it is asked.
    vips_error_clear();
}

static void warm_all(void) {
    static const char *const formats[] = {".jpg", ".png", ".webp", ".gif", ".tif"};
    VipsImage *black = NULL, *picture = NULL;
    if (vips_black(&black, 16, 16, "bands", 4, NULL) != 0) return;
    if (vips_copy(black, &picture, "interpretation", VIPS_INTERPRETATION_sRGB, NULL) == 0) {
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
            void *bytes = NULL;
            size_t size = 0;
            if (vips_image_write_to_buffer(picture, formats[i], &bytes, &size, NULL) == 0) warm(bytes, size);
            g_free(bytes);
        }
        g_object_unref(picture);
    }
    g_object_unref(black);
    warm(avif, sizeof avif);
    warm(heic, sizeof heic);
    warm(jxl, sizeof jxl);
    vips_error_clear();
}

static void limit(__rlimit_resource_t resource, rlim_t most) {
    setrlimit(resource, &(struct rlimit){most, most});
}

/// Gives up everything but the calls above and the descriptors that come. Returns 0, or -1.
static int confine(void) {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, largest_picture);
    limit(RLIMIT_AS, most_memory);
    prctl(PR_SET_DUMPABLE, 0);
    if (clinux_forbid_privileges() != 0) return -1;
    int paths = clinux_paths_begin(false);
    if (paths >= 0) {
        clinux_paths_enforce(paths);
        close(paths);
    }
    return clinux_limit_calls_to(calls, sizeof calls / sizeof *calls);
}

// MARK: Requests

/// Receives a side and two descriptors. Returns 0 once the daemon has closed its end.
static int receive(int *side, int files[2]) {
    char control[CMSG_SPACE(2 * sizeof(int))];
    struct iovec bytes = {side, sizeof *side};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(requests, &message, MSG_CMSG_CLOEXEC) != sizeof *side) return 0;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head == NULL || head->cmsg_len != CMSG_LEN(2 * sizeof(int))) return 0;
    memcpy(files, CMSG_DATA(head), 2 * sizeof(int));
    return 1;
}

/// Ends the process unless it is called again before it has spent so many seconds on a processor. 0 means never.
/// setitimer(2), `ITIMER_PROF`.
static void limit_time(int seconds) {
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = seconds}}, NULL);
}

static void answer(const char *problem) {
    struct iovec text = {(void *)(problem == NULL ? "" : problem), problem == NULL ? 0 : strnlen(problem, 200)};
    struct iovec parts[] = {{problem == NULL ? "+" : "-", 1}, text};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    sendmsg(requests, &message, MSG_NOSIGNAL);
    vips_error_clear();
}

/// libvips and its decoders comment on pictures that are odd.
static void say_nothing(const char *domain, GLogLevelFlags level, const char *text, void *data) {
    (void)domain, (void)level, (void)text, (void)data;
}

int main(int count, char **words) {
    (void)count;
    struct stat status;
    if (fstat(requests, &status) != 0 || !S_ISSOCK(status.st_mode)) {
        fputs("cached-deriver is started by cached, which hands it a socket\n", stderr);
        return 64;
    }
    // Descriptors that the daemon did not mean to hand over.
    close_range(requests + 1, ~0u, 0);
    g_log_set_default_handler(say_nothing, NULL);
    if (vips_init(words[0]) != 0) return 70;
    // No code is written at run time, each picture takes one core, and no two are alike.
    vips_vector_set_enabled(FALSE);
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    vips_block_untrusted_set(TRUE);
    warm_all();
    if (confine() != 0) return 71;
    int side, files[2];
    while (receive(&side, files)) {
        limit_time(seconds_of_processor);
        const char *problem = derive(files[0], files[1], side);
        limit_time(0);
        answer(problem);
        close(files[0]);
        close(files[1]);
    }
    return 0;
}
