import CLinux
import CacheDisk
import CacheFetching
internal import CacheKey
import CacheModel
import CacheValues
import Glibc
import HTTPCaching
internal import Logging
internal import Synchronization
internal import SystemPackage

/// The thread that maintains the cache independently of requests. It applies the changes that other programs
/// make to the directory, has access times and attributes written to the files, and keeps the minimum of free space. It removes
/// entries that must not be stored, gives memory back after many downloads, and ends the pauses between
/// retries, all of them when the machine's network changes.
///
/// Sleeps in poll(2). Without changes it wakes every two seconds to measure the free space, because other
/// programs write to the same disk.
final class Maintenance: Sendable {
    private let thread = Mutex<NamedThread?>(nil)
    /// Wakes the thread so that it ends. eventfd(2).
    private let stop: Int32
    /// Wakes the thread, for example because a pause now ends earlier than all others. eventfd(2).
    private let wake: Int32

    /// The time between two rounds of the regular work. The access times and attributes in the files are behind by
    /// this much at most.
    static let interval = Duration.seconds(2)
    /// The number of rounds in a minute. After it, the figures are sampled, a directory that can't be watched is read
    /// again, and a missing `CACHEDIR.TAG` is written.
    static let minuteRounds = 30
    /// The number of rounds in an hour. After it, old partials are discarded, files that could not be unlinked are
    /// tried again, and entries are evicted that nobody used.
    static let hourlyRounds = 1800
    /// The time for which changes gather before they are handled. The kernel queues 16,384 of them.
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
        thread.withLock { $0 = NamedThread("maintenance") { self.run(cache) } }
    }

    func finish() {
        eventfd_write(stop, 1)
        thread.withLock { $0.take() }?.join()
    }

    /// Wakes the thread, so that it checks what to do next. Never blocks. eventfd(2).
    func wakeUp() {
        eventfd_write(wake, 1)
    }

    private func run(_ cache: Cache) {
        var health = DirectoryHealth(cache)
        let network = NetworkWatch()
        var next = ContinuousClock.now + Self.interval
        var rounds = 0
        var release = HeapRelease()
        while true {
            let others = [wake, cache.watchDescriptor, network.descriptor]
            if sleep(until: min(next, cache.nextCheck ?? next), or: others) { return }
            cache.checkDownloads()
            if network.takeChange() { cache.networkChanged() }
            cache.drainWatch()
            if sleep(until: .now + Self.pause, or: []) { return }
            cache.drainWatch()
            health.check()
            cache.probeDirtyNames()
            guard next <= .now else { continue }
            cache.flushAccessTimes()
            cache.writeAttributes()
            cache.keepLimits()
            cache.summarizeFailures()
            cache.history.flush()
            cache.shrinkTables()
            if ProcessMemory.takeFreed() { release.muchWasFreed() }
            if cache.isAtRest || release.isEager { tidy(&release) }
            rounds += 1
            if rounds % Self.minuteRounds == 0 {
                cache.tendEveryMinute()
            }
            if rounds % Self.hourlyRounds == 0 {
                cache.discardOldPartials()
                cache.retryUnevictable()
                cache.evictUnused()
            }
            next = .now + Self.interval
        }
    }

    /// Gives memory back that images or messages needed for a while.
    private func tidy(_ release: inout HeapRelease) {
        guard let bytes = ProcessMemory.anonymousBytes, release.isDue(bytes) else { return }
        ProcessMemory.giveBack()
        release.returned(ProcessMemory.anonymousBytes ?? bytes)
    }

    /// Sleeps until a time or until one of the other descriptors is readable. Returns `true` if the thread has to
    /// end. poll(2).
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
    /// The work of each minute.
    func tendEveryMinute() {
        sampleFigures()
        scanIfBlind()
        directory.restoreTag()
    }

    /// Files whose access times are written in one batch.
    static let useBatch = 512

    /// Writes the access times of entries to their files, so that they survive a restart. Uses that are added
    /// during the call wait for the next one; otherwise it might never end.
    func flushAccessTimes() {
        var rest = read { $0.disk.index.touchedCount }
        while rest > 0 {
            let batch = min(rest, Self.useBatch)
            rest -= batch
            let uses = run { state, _ in state.disk.takeAccessTimes(limit: batch) }
            for use in uses { writeAccessTime(use.time, of: use.key) }
            run { state, _ in state.disk.accessTimes.flushed(uses.map(\.key)) }
        }
    }

    private func writeAccessTime(_ time: FileTime, of key: CacheKey) {
        do {
            try directory.setLastUse(time, of: key)
        } catch {
            logger.debug(
                "an access time could not be written",
                metadata: ["key": "\(key)", "error": "\(error)"])
        }
    }

    /// Writes the attributes that images were published without, and what origins have confirmed, beside publications.
    func writeAttributes() { writeAttributes(of: directory.unwritten.keys[...]) }

    private func writeAttributes(of keys: ArraySlice<CacheKey>) {
        // The rest is written at the end.
        guard !keys.isEmpty, !isDraining else { return }
        worker.enqueue(
            .runBeside { end in
                var rest = keys
                while let key = rest.popFirst() {
                    self.writeUnwritten(key)
                    if .now >= end { break }
                }
                self.drainWatch()
                self.writeAttributes(of: rest)
            })
    }

    /// Writes what the file of an entry lacks. This runs on the directory's thread.
    func writeUnwritten(_ key: CacheKey) {
        directory.writeAttributes(of: key)
        writeConfirmation(of: key)
    }

    /// Enforces the limits again, because other programs may have filled the disk. Ends the measures against a
    /// shortage of memory when their time is over. Removes entries that must not be stored.
    func keepLimits() {
        measure()
        run { state, effects in
            state.fetching.limitsChecked(&effects)
            state.fetching.timePassed(now: .now, &effects)
        }
        while run({ $0.fetching.departedEnded(now: .now, &$1) }) {}
        let time = settings.transfers.caching.noStoreGrace
        while run({ $0.removeNotStorable(now: .now, time: time, &$1) }) {}
    }

    /// Whether no download runs.
    var isAtRest: Bool { read { $0.fetching.scheduler.running == 0 } }

    /// Makes tables small again that many downloads have made large. The old ones are freed without the lock.
    func shrinkTables() {
        let table = run { state, _ in state.fetching.takeOversizedTable() }
        withExtendedLifetime(table) {}
    }

    /// When ``checkDownloads()`` has something to do; `nil` if time changes nothing.
    var nextCheck: ContinuousClock.Instant? {
        read { $0.fetching.nextCheck(now: .now) }
    }

    /// Continues the downloads whose pause is over, measures the others, and answers callers whose time is over.
    func checkDownloads() {
        run { state, effects in
            let now = ContinuousClock.now
            state.fetching.deadlinesPassed(now: now, &effects)
            state.fetching.pausesEnded(now: now, &effects)
            state.fetching.paceMeasured(now: now, &effects)
        }
    }

    /// Downloads that failed on another network are tried on this one.
    func networkChanged() {
        run { $0.fetching.networkChanged(now: .now, &$1) }
    }

    /// Reads the directory again if it can't be watched, because then nothing reports its changes and uses. Access
    /// times show which entries were used. First tries again to watch the directory.
    func scanIfBlind() {
        let isNeeded = read { $0.disk.validity == .stale && !$0.disk.isScanning }
        guard isNeeded else { return }
        watchIfBlind()
        startScan()
    }
}
