import CLinux
internal import CacheKey
import Glibc
internal import Logging
internal import Synchronization
internal import SystemPackage

/// The thread that keeps the cache in order while nobody asks: takes in what strangers do, tells files
/// when they were used, looks after the floor of free space, removes what may not be kept, gives memory back
/// after many downloads, and ends the pauses of those that are to be tried again.
///
/// Sleeps in poll(2); without changes it wakes every two seconds to ask for the free space, because
/// others write to the same disk.
final class Maintenance: Sendable {
    private let thread = Mutex<NamedThread?>(nil)
    /// Ends the thread's sleep for good. eventfd(2).
    private let stop: Int32
    /// Ends the thread's sleep: a pause ends before all others.
    private let wake: Int32

    /// Between two rounds of the regular work. Uses are this far behind in the files, at most.
    static let interval = Duration.seconds(2)
    /// A directory that can't be watched is read again after so many rounds.
    static let blindRounds = 30
    /// Partials are asked for their age, and what could not be removed is tried again, after so many: an hour.
    static let hourlyRounds = 1800
    /// Bytes of memory that may be kept for nothing when no download runs.
    static let slack = 2 << 20
    /// Changes gather for so long; a kernel keeps 16,384 of them.
    static let pause = Duration.milliseconds(20)

    init(_ kernel: Kernel) throws(CacheError) {
        stop = try Self.eventDescriptor(kernel)
        do {
            wake = try Self.eventDescriptor(kernel)
        } catch {
            close(stop)
            throw error
        }
    }

    private static func eventDescriptor(_ kernel: Kernel) throws(CacheError) -> Int32 {
        do {
            return try kernel.eventDescriptor()
        } catch {
            throw .noDescriptors(error)
        }
    }

    deinit {
        close(stop)
        close(wake)
    }

    func start(_ cache: Cache) {
        thread.withLock { $0 = NamedThread("upkeep") { self.run(cache) } }
    }

    func finish() {
        eventfd_write(stop, 1)
        thread.withLock { $0.take() }?.join()
    }

    /// Makes the thread look at what comes next; never waits. eventfd(2).
    func wakeUp() {
        eventfd_write(wake, 1)
    }

    private func run(_ cache: Cache) {
        var health = DirectoryHealth(cache)
        var next = ContinuousClock.now + Self.interval
        var rounds = 0
        var kept = 0
        while true {
            if sleep(until: min(next, cache.nextRetry ?? next), or: [wake, cache.watchDescriptor]) {
                return
            }
            cache.endPauses()
            cache.drainWatch()
            if sleep(until: .now + Self.pause, or: []) { return }
            cache.drainWatch()
            health.check()
            cache.probeDirtyNames()
            guard next <= .now else { continue }
            cache.flushAccessTimes()
            cache.keepLimits()
            if cache.isAtRest { tidy(&kept) }
            rounds += 1
            if rounds % Self.blindRounds == 0 { cache.scanIfBlind() }
            if rounds % Self.hourlyRounds == 0 {
                cache.discardOldPartials()
                cache.retryUnevictable()
            }
            next = .now + Self.interval
        }
    }

    /// Gives memory back that was needed for a while: for images, or for messages.
    ///
    /// - Parameter kept: bytes there were after it was given back last.
    private func tidy(_ kept: inout Int) {
        guard let bytes = ProcessMemory.anonymousBytes else { return }
        kept = min(kept, bytes)
        guard bytes - kept >= Self.slack else { return }
        ProcessMemory.giveBack()
        kept = ProcessMemory.anonymousBytes ?? bytes
    }

    /// Waits for a time or for changes; `true` when the end has come. poll(2).
    private func sleep(until time: ContinuousClock.Instant, or others: [Int32?]) -> Bool {
        let left = max(time - .now, .zero)
        let milliseconds =
            Int32(clamping: left.components.seconds * 1000)
            + Int32(left.components.attoseconds / 1_000_000_000_000_000) + 1
        var descriptors = ([stop] + others.compactMap(\.self)).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        poll(&descriptors, nfds_t(descriptors.count), milliseconds)
        var count: eventfd_t = 0
        eventfd_read(wake, &count)
        return descriptors[0].revents != 0
    }
}

extension Cache {
    /// Files told at a time.
    static let useBatch = 512

    /// Tells files when they were used last, so that it is known after a restart. What is used meanwhile waits
    /// for the next time: there may be no end of it.
    func flushAccessTimes() {
        var rest = read { $0.catalog.accessTimes.pendingCount }
        while rest > 0 {
            let batch = min(rest, Self.useBatch)
            rest -= batch
            let uses = run { state, _ in state.catalog.takeAccessTimes(limit: batch) }
            for use in uses { tell(use.key, use.time) }
            run { state, _ in state.catalog.accessTimesFlushed(uses.map(\.key)) }
        }
    }

    private func tell(_ key: CacheKey, _ time: FileTime) {
        do {
            try directory.setLastUse(time, of: key)
        } catch {
            logger.debug(
                "a file was not told of its use", metadata: ["key": "\(key)", "error": "\(error)"])
        }
    }

    /// Others may have filled the disk; memory may no longer be short.
    func keepLimits() {
        measure()
        run { state, effects in
            state.limitsChecked(&effects)
            state.timePassed(now: .now, &effects)
        }
        let time = settings.transfers.caching.noStoreGrace
        while run({ $0.removeNotStorable(now: .now, time: time, &$1) }) {}
    }

    /// Whether no download runs.
    var isAtRest: Bool { read { $0.scheduler.running == 0 } }

    /// When the next pause ends; `nil` where no download pauses.
    var nextRetry: ContinuousClock.Instant? {
        read { $0.scheduler.nextRetry }
    }

    /// Lets downloads go on whose pause is over.
    func endPauses() {
        run { $0.pausesEnded(now: .now, &$1) }
    }

    /// Reads the directory again where nothing tells of its changes: access times say what was used. From then
    /// on it is watched, if it can be.
    func scanIfBlind() {
        let isNeeded = read { $0.catalog.validity == .stale && !$0.catalog.isScanning }
        guard isNeeded else { return }
        watchIfBlind()
        startScan()
    }
}
