// Linked into every program that is built with a sanitizer: how it is set, what ThreadSanitizer does not see
// of Swift, and what it sees wrong. The options of the environment (TSAN_OPTIONS, ASAN_OPTIONS) come on top.
//
// A name with `__wrap_` before it stands in for that function, the one with `__real_` is the function itself:
// ld(1), `--wrap`.
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

// A report ends the program by SIGABRT: no test takes that for one of its own exit codes. What is left at the
// end of a process is nobody's harm, and Swift leaves its metadata.
const char *__asan_default_options(void) { return "abort_on_error=1:detect_leaks=0"; }
// Without atexit_sleep_ms every program would sleep for a second at its end.
const char *__tsan_default_options(void) { return "abort_on_error=1:halt_on_error=1:atexit_sleep_ms=0"; }

// Swift's own handler would stop the other threads to print what they do, in vain and for ever under
// ThreadSanitizer.
void __sanitizer_set_death_callback(void (*callback)(void));

static void end_at_once(void) { signal(SIGABRT, SIG_DFL); }

__attribute__((constructor)) static void prepare(void) { __sanitizer_set_death_callback(end_at_once); }

// What is reported of code that is not ours. A line here needs its reason.
const char *__tsan_default_suppressions(void) { return ""; }

#if __has_feature(thread_sanitizer)

// Where Synchronization.Mutex has to wait it calls a library that is not instrumented, and the kernel hands
// the lock over (futex(2), FUTEX_LOCK_PI). Untold, every access that a contended lock guards is a race.
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex
// _MutexHandle._lockSlow(_: UInt32), _MutexHandle._unlockSlow()
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

void __tsan_acquire(void *);
void __tsan_release(void *);

// Weak: not every program has such a lock.
__attribute__((weak)) SWIFT void lock_slow(uint32_t thread, SELF) __asm__("__real_" LOCK_SLOW);
__attribute__((weak)) SWIFT void unlock_slow(SELF) __asm__("__real_" UNLOCK_SLOW);
SWIFT void wrapped_lock_slow(uint32_t thread, SELF) __asm__("__wrap_" LOCK_SLOW);
SWIFT void wrapped_unlock_slow(SELF) __asm__("__wrap_" UNLOCK_SLOW);

SWIFT void wrapped_lock_slow(uint32_t thread, SELF) {
    lock_slow(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT void wrapped_unlock_slow(SELF) {
    __tsan_release(mutex);
    unlock_slow(mutex);
}

// Swift tells of each `inout` argument, of those without any bytes too (SystemRandomNumberGenerator), whose
// address is whatever is in the register, the program's text for one: ThreadSanitizer then writes where nothing
// is mapped. What threads share lies on its heap, all of whose shadow is mapped, and only that is told:
// tsan_platform.h, Mapping48AddressSpace.
void __real___tsan_external_write(void *address, void *caller, void *tag);

void __wrap___tsan_external_write(void *address, void *caller, void *tag) {
    uintptr_t place = (uintptr_t)address;
    bool isOnHeap = place >= 0x720000000000 && place < 0x730000000000;
    if (isOnHeap) __real___tsan_external_write(address, caller, tag);
}

#endif
