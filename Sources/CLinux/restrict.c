#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int clinux_forbid_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

// MARK: Capabilities

int clinux_keep_capabilities(unsigned long long kept) {
    // A program that is started gets none of the others either. Fails behind the last capability, and without
    // privileges there is nothing to drop.
    for (int number = 0; number < 64; number++)
        if (!(kept >> number & 1)) prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &head, data) != 0) return -1;
    // A service manager that has dropped all may refuse the call, too.
    if (!(data[0].permitted | data[1].permitted | data[0].inheritable | data[1].inheritable))
        return 0;
    for (int half = 0; half < 2; half++) {
        data[half].permitted &= (uint32_t)(kept >> half * 32);
        data[half].effective = data[half].permitted;
        data[half].inheritable = 0;
    }
    return (int)syscall(SYS_capset, &head, data);
}

// MARK: Paths

// linux/landlock.h, which is older than the kernel on many systems. landlock(7)
enum {
    execute = 1 << 0,
    write_file = 1 << 1,
    read_file = 1 << 2,
    read_directory = 1 << 3,
    remove_directory = 1 << 4,
    remove_file = 1 << 5,
    make_device = 1 << 6 | 1 << 11,
    make_directory = 1 << 7,
    make_file = 1 << 8,
    make_socket = 1 << 9,
    make_fifo = 1 << 10,
    make_link = 1 << 12,
    refer = 1 << 13,
    truncate_file = 1 << 14,
    device_control = 1 << 15,
    resolve_socket = 1 << 16,
    // Rights that mean something for a file that is no directory.
    of_files = execute | write_file | read_file | truncate_file | device_control | resolve_socket,
    // All rights of the first version: those up to make_link.
    first_version = (make_link << 1) - 1,
    bind_tcp = 1 << 0,
    scope_abstract_sockets = 1 << 0,
    scope_signal = 1 << 1,
};

struct ruleset {
    uint64_t files, network, scope;
};

struct __attribute__((packed)) path_rule {
    uint64_t allowed;
    int32_t descriptor;
};

static int version(void) {
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
}

/// The rights that this kernel knows. The others would be refused.
static uint64_t known_rights(void) {
    uint64_t rights = first_version;
    int number = version();
    if (number >= 2) rights |= refer;
    if (number >= 3) rights |= truncate_file;
    if (number >= 5) rights |= device_control;
    if (number >= 9) rights |= resolve_socket;
    return rights;
}

int clinux_paths_begin(bool uses_abstract_sockets) {
    int number = version();
    if (number < 0) return -1;
    uint64_t scope = uses_abstract_sockets ? scope_signal : scope_signal | scope_abstract_sockets;
    struct ruleset set = {known_rights(), bind_tcp, scope};
    // Older kernels know only the first members.
    size_t size = number >= 6 ? sizeof set : number >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    return (int)syscall(SYS_landlock_create_ruleset, &set, size, 0);
}

static uint64_t rights(enum clinux_access access) {
    const uint64_t reading = read_file | read_directory;
    switch (access) {
    case clinux_read: return reading;
    // A source of memory pressure can be a socket.
    case clinux_write: return reading | write_file | truncate_file | resolve_socket;
    case clinux_remove: return remove_file;
    case clinux_run: return reading | execute;
    case clinux_connect: return resolve_socket;
    case clinux_change:
        // Whatever lies under the name of an image is renamed, which takes the right to make its kind.
        return reading | write_file | truncate_file | make_file | make_directory | make_link | make_fifo
            | make_socket | make_device | remove_file | remove_directory | refer;
    }
    return 0;
}

int clinux_paths_add(int rules, const char *path, enum clinux_access access) {
    struct stat status;
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    if (descriptor < 0) return -1;
    int result = fstat(descriptor, &status);
    if (result == 0) {
        uint64_t meant = S_ISDIR(status.st_mode) ? ~0ull : of_files;
        struct path_rule rule = {rights(access) & known_rights() & meant, descriptor};
        if (rule.allowed) result = (int)syscall(SYS_landlock_add_rule, rules, 1, &rule, 0);
    }
    close(descriptor);
    return result;
}

int clinux_paths_enforce(int rules) {
    return (int)syscall(SYS_landlock_restrict_self, rules, 0);
}

// MARK: System calls

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

// Newer than the headers of some systems; the numbers are the same on all architectures.
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_getxattrat
#define SYS_getxattrat 464
#endif

/// The calls of this program, of libcurl and its resolver, of NIO, libdispatch and the C library. Those whose
/// arguments count are below.
static const uint16_t usual_calls[] = {
    // Files.
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev,
    SYS_close, SYS_close_range, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_lseek,
    SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_renameat, SYS_renameat2, SYS_linkat,
    SYS_unlinkat, SYS_mkdirat, SYS_umask, SYS_truncate,
    SYS_ftruncate, SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_syncfs, SYS_sync_file_range,
    SYS_fadvise64, SYS_copy_file_range, SYS_flock, SYS_fcntl, SYS_utimensat, SYS_getdents64,
    SYS_getcwd, SYS_statfs, SYS_fstatfs, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_getxattr,
    SYS_lgetxattr, SYS_fgetxattr, SYS_getxattrat, SYS_listxattr, SYS_llistxattr, SYS_flistxattr,
    SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_inotify_init1, SYS_inotify_add_watch,
    SYS_inotify_rm_watch, SYS_dup, SYS_dup3, SYS_pipe2,
    // Memory.
    SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk, SYS_mincore, SYS_msync,
    // Threads, signals and time.
    SYS_futex, SYS_set_robust_list, SYS_get_robust_list, SYS_rseq, SYS_set_tid_address, SYS_exit,
    SYS_exit_group, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_getparam,
    SYS_sched_getscheduler, SYS_sched_setscheduler, SYS_sched_get_priority_max,
    SYS_sched_get_priority_min, SYS_setpriority, SYS_getpriority, SYS_ioprio_set, SYS_membarrier,
    SYS_getcpu, SYS_prctl, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_rt_sigsuspend, SYS_rt_sigpending, SYS_rt_sigtimedwait, SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo, SYS_sigaltstack, SYS_kill, SYS_tgkill, SYS_tkill, SYS_restart_syscall,
    SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday,
    SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime, SYS_eventfd2, SYS_signalfd4,
    SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_ppoll, SYS_pselect6,
    // Sockets.
    SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_getsockname,
    SYS_getpeername, SYS_setsockopt, SYS_getsockopt, SYS_sendto, SYS_recvfrom, SYS_sendmsg,
    SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_shutdown,
    // This process and the system.
    SYS_getpid, SYS_getppid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
    SYS_getgroups, SYS_getresuid, SYS_getresgid, SYS_capget, SYS_getrlimit, SYS_prlimit64,
    SYS_getrusage, SYS_times, SYS_uname, SYS_sysinfo, SYS_getrandom, SYS_memfd_create,
    // A program that is started restricts itself further.
    SYS_seccomp, SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self,
#ifdef __x86_64__
    // The older forms, which other architectures do not have.
    SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_rename, SYS_link, SYS_unlink,
    SYS_mkdir, SYS_utime, SYS_utimes, SYS_futimesat, SYS_getdents, SYS_inotify_init,
    SYS_dup2, SYS_pipe, SYS_poll, SYS_select, SYS_epoll_create, SYS_epoll_wait, SYS_eventfd,
    SYS_signalfd, SYS_arch_prctl, SYS_time, SYS_pause, SYS_alarm,
#endif
};

/// Room for the filter: two instructions a call, and those below.
static struct sock_filter filter[2 * (sizeof usual_calls / sizeof *usual_calls) + 128];
static unsigned short length;

static void add(uint16_t code, uint32_t operand, uint8_t if_true, uint8_t if_false) {
    filter[length++] = (struct sock_filter){code, if_true, if_false, operand};
}

static void load(size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(uint32_t action) {
    add(BPF_RET | BPF_K, action, 0, 0);
}

/// Loads the low half of an argument. The calls below ignore the high half, or have nothing in it.
static void load_argument(int number) {
    load(offsetof(struct seccomp_data, args) + 8 * (size_t)number);
}

/// Begins the rule of a call: the `count` instructions that follow are for it alone, and the last one answers.
static void begin(uint32_t call, uint8_t count) {
    add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, count);
}

static const uint32_t allow = SECCOMP_RET_ALLOW;
static const uint32_t refuse = SECCOMP_RET_ERRNO | EPERM;
/// The C library falls back to an older call after this error, and a program reports it.
static const uint32_t unknown = SECCOMP_RET_ERRNO | ENOSYS;

/// Allows a call if the bits of `mask` in its argument are those of `bits`.
static void add_masked(uint32_t call, int argument, uint32_t mask, uint32_t bits) {
    begin(call, 5);
    load_argument(argument);
    add(BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, bits, 0, 1);
    answer(allow);
    answer(refuse);
}

static void add_memory_rules(void) {
    // No memory is writable and executable, and none becomes executable later. Modules of the resolver are mapped.
    begin(SYS_mmap, 5);
    load_argument(2);
    add(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE | PROT_EXEC, 0, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, PROT_WRITE | PROT_EXEC, 1, 0);
    answer(allow);
    answer(refuse);
    add_masked(SYS_mprotect, 2, PROT_EXEC, 0);
}

/// Threads, but no other processes, except those of posix_spawn(3). The flags of clone3(2) are in memory, where a filter
/// cannot read them.
static void add_process_rules(bool starts_programs) {
    if (starts_programs) {
        begin(SYS_clone, 6);
        load_argument(0);
        add(BPF_JMP | BPF_JEQ | BPF_K, CLONE_VM | CLONE_VFORK | SIGCHLD, 2, 0);
        add(BPF_ALU | BPF_AND | BPF_K, CLONE_THREAD, 0, 0);
        add(BPF_JMP | BPF_JEQ | BPF_K, CLONE_THREAD, 0, 1);
        answer(allow);
        answer(refuse);
        begin(SYS_execve, 1);
        answer(allow);
        begin(SYS_wait4, 1);
        answer(allow);
    } else {
        add_masked(SYS_clone, 0, CLONE_THREAD, CLONE_THREAD);
    }
}

/// Allows a call that opens or makes a file, unless the file would run with the rights of its owner or group.
static void add_opening(uint32_t call, int flags, int mode) {
    begin(call, 8);
    load_argument(flags);
    add(BPF_ALU | BPF_AND | BPF_K, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), 0, 0);
    // Without these flags there is no mode, and nobody says what the argument contains.
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0);
    load_argument(mode);
    add(BPF_ALU | BPF_AND | BPF_K, S_ISUID | S_ISGID, 0, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
    answer(allow);
    answer(refuse);
}

/// No file gets a mode with which it would run with the rights of its owner or group. inode(7)
static void add_mode_rules(void) {
    add_opening(SYS_openat, 2, 3);
    add_masked(SYS_fchmod, 1, S_ISUID | S_ISGID, 0);
    add_masked(SYS_fchmodat, 2, S_ISUID | S_ISGID, 0);
    add_masked(SYS_fchmodat2, 2, S_ISUID | S_ISGID, 0);
#ifdef __x86_64__
    add_opening(SYS_open, 1, 2);
    add_masked(SYS_chmod, 1, S_ISUID | S_ISGID, 0);
#endif
}

static void add_rules(void) {
    add_mode_rules();
    const uint32_t families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
    begin(SYS_socket, 10);
    load_argument(0);
    for (size_t index = 0; index < 4; index++) {
        add(BPF_JMP | BPF_JEQ | BPF_K, families[index], 0, 1);
        answer(allow);
    }
    answer(refuse);
    // Types characters on the terminal of somebody else. ioctl_tty(2)
    begin(SYS_ioctl, 5);
    load_argument(1);
    add(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 2, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, TIOCLINUX, 1, 0);
    answer(allow);
    answer(refuse);
}

static void begin_filter(const uint16_t *calls, size_t count) {
    length = 0;
    load(offsetof(struct seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    answer(unknown);
    load(offsetof(struct seccomp_data, nr));
    for (size_t index = 0; index < count; index++) {
        begin(calls[index], 1);
        answer(allow);
    }
    add_memory_rules();
}

static int install_filter(void) {
    answer(unknown);
    struct sock_fprog program = {length, filter};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int clinux_limit_calls(bool starts_programs) {
    begin_filter(usual_calls, sizeof usual_calls / sizeof *usual_calls);
    add_process_rules(starts_programs);
    add_rules();
    return install_filter();
}

int clinux_limit_calls_to(const unsigned short *calls, size_t count) {
    if (count > sizeof usual_calls / sizeof *usual_calls) return -1;
    begin_filter(calls, count);
    add_process_rules(false);
    return install_filter();
}

#else

int clinux_limit_calls(bool starts_programs) {
    (void)starts_programs;
    errno = ENOSYS;
    return -1;
}

int clinux_limit_calls_to(const unsigned short *calls, size_t count) {
    (void)calls, (void)count;
    errno = ENOSYS;
    return -1;
}

#endif
