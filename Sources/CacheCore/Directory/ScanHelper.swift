import CLinux
internal import CacheKey
internal import Synchronization

/// A thread that looks at names for a scan, on a processor that has nothing else to do, if there may be one.
///
/// Whatever else wants to run goes first, so that no processor is missed elsewhere; and nobody waits for
/// what it has begun, since it may not get on with it. sched(7), `SCHED_IDLE`.
final class ScanHelper {
    private let offer = Offer()

    /// The batch to help with: the newest only, however long the thread did not get to run.
    private final class Offer: Sendable {
        let batch = Mutex<ScanBatch?>(nil)
        /// Says that there is one.
        let inbox = Inbox<Void>()
    }

    init(_ directory: CacheDirectory) {
        let thread = NamedThread(ifPossible: "scan-helper") { [offer] in
            clinux_run_when_idle()
            while offer.inbox.takeAll() != nil {
                let batch = offer.batch.withLock { $0.take() }
                batch?.look(in: directory)
            }
        }
        thread?.detach()
    }

    deinit {
        offer.inbox.close()
    }

    func help(with batch: ScanBatch) {
        let isFirst = offer.batch.withLock { offered in
            defer { offered = batch }
            return offered == nil
        }
        if isFirst { offer.inbox.put(()) }
    }
}

/// Names that are looked at, some at a time, by however many threads.
final class ScanBatch: Sendable {
    typealias Name = (DirectoryName, String)

    /// Names that a thread looks at before it says what it found.
    private static let stretch = 16

    private let names: [Name]
    private let found: [Found]
    private let begun = Atomic(0)

    private final class Found: Sendable {
        let items = Mutex<[ScannedName]?>(nil)
    }

    init(_ names: [Name]) {
        self.names = names
        found = stride(from: 0, to: names.count, by: Self.stretch).map { _ in Found() }
    }

    /// Looks at all that nobody has begun with.
    func look(in directory: CacheDirectory) {
        while let index = begin() {
            let items = look(at: index, in: directory)
            found[index].items.withLock { $0 = items }
        }
    }

    /// Begins with some of the names; `nil` where nobody has to.
    func begin() -> Int? {
        let index = begun.wrappingAdd(1, ordering: .relaxed).oldValue
        return index < found.count ? index : nil
    }

    /// What is found under all names, in order. What another thread has begun and not ended is looked at
    /// once more.
    func result(in directory: CacheDirectory) -> [ScannedName] {
        look(in: directory)
        var all: [ScannedName] = []
        all.reserveCapacity(names.count)
        for index in found.indices {
            let items = found[index].items.withLockIfAvailable { $0 } ?? nil
            all += items ?? look(at: index, in: directory)
        }
        return all
    }

    private func look(at index: Int, in directory: CacheDirectory) -> [ScannedName] {
        names.dropFirst(index * Self.stretch).prefix(Self.stretch).map { name, text in
            directory.look(at: name, text)
        }
    }
}
