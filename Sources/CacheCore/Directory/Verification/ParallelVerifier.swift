import CLinux
import Glibc
internal import Synchronization

/// Reads a batch of entries on all cores, with the lowest priority. Its threads take no lock that other threads
/// of the cache wait for.
final class ParallelVerifier: Sendable {
    private let entries: [OpenedEntry]
    private let next = Atomic(0)
    private let findings: Mutex<[EntryReader.Finding]>

    init(_ entries: [OpenedEntry]) {
        self.entries = entries
        findings = Mutex(Array(repeating: .undecided, count: entries.count))
    }

    /// Reads all entries; returns the findings in order. If no thread can be started, the calling one reads.
    func read(
        _ directory: CacheDirectory, isCancelled: @escaping @Sendable () -> Bool
    ) -> [EntryReader.Finding] {
        let cores = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
        let threads = (0..<min(cores, entries.count)).compactMap { _ in
            NamedThread(ifPossible: "verify-reader") {
                clinux_lower_priority()
                self.readNext(directory, isCancelled)
            }
        }
        if threads.isEmpty { readNext(directory, isCancelled) }
        for thread in threads { thread.join() }
        return findings.withLock { $0 }
    }

    private func readNext(_ directory: CacheDirectory, _ isCancelled: () -> Bool) {
        let reader = EntryReader(directory)
        while !isCancelled() {
            let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard index < entries.count else { return }
            let entry = entries[index]
            let finding =
                entry.damage.map { .damaged($0) } ?? reader.read(entry, isCancelled: isCancelled)
            findings.withLock { $0[index] = finding }
        }
    }
}
