// Linked into every program that is built with a sanitizer. It sets the sanitizer's options, tells
// ThreadSanitizer about synchronisation in Swift that it does not see, and filters what it misreads.
// Options from the environment (TSAN_OPTIONS, ASAN_OPTIONS) are applied on top.
//
// A function named `__wrap_NAME` replaces NAME; `__real_NAME` is the original. ld(1), `--wrap`.
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

// A report ends the program by SIGABRT, which no test mistakes for one of its own exit codes. Leaks are
// not reported: Swift never frees its metadata.
const char *__asan_default_options(void) { return "abort_on_error=1:detect_leaks=0"; }
// Without atexit_sleep_ms every program would sleep for a second when it exits.
const char *__tsan_default_options(void) { return "abort_on_error=1:halt_on_error=1:atexit_sleep_ms=0"; }

// Swift's own crash handler would stop the other threads to print their backtraces, and under
// ThreadSanitizer that never ends.
void __sanitizer_set_death_callback(void (*callback)(void));

static void end_at_once(void) { signal(SIGABRT, SIG_DFL); }

__attribute__((constructor)) static void prepare(void) { __sanitizer_set_death_callback(end_at_once); }

// Suppressions for code that is not ours. Every line here needs a reason.
const char *__tsan_default_suppressions(void) { return ""; }

#if __has_feature(thread_sanitizer)

// A contended Synchronization.Mutex waits in a library that is not instrumented, and the kernel hands
// the lock over (futex(2), FUTEX_LOCK_PI). Without these hooks ThreadSanitizer reports every access
// that a contended lock guards as a race.
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex
// _MutexHandle._lockSlow(_: UInt32), _MutexHandle._unlockSlow()
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

void __tsan_acquire(void *);
void __tsan_release(void *);

// Weak, because some programs have no such lock.
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

// Swift reports every `inout` access, even to types without any bytes (SystemRandomNumberGenerator).
// Their address is whatever is in the register, for example the program's text, and ThreadSanitizer
// then writes to shadow memory that is not mapped. Memory that threads share is on its heap, whose
// shadow is always mapped, so only heap addresses are passed on: tsan_platform.h,
// Mapping48AddressSpace.
void __real___tsan_external_write(void *address, void *caller, void *tag);

void __wrap___tsan_external_write(void *address, void *caller, void *tag) {
    uintptr_t location = (uintptr_t)address;
    bool isOnHeap = location >= 0x720000000000 && location < 0x730000000000;
    if (isOnHeap) __real___tsan_external_write(address, caller, tag);
}

#endif
