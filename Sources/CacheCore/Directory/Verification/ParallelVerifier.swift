import CLinux
import Glibc
internal import Synchronization

/// Reads a batch of entries on all cores, with the lowest priority. Its threads take no lock that other threads
/// of the cache wait for.
final class ParallelVerifier: Sendable {
    private let entries: [OpenedEntry]
    private let files: [Range<Int>]
    private let next = Atomic(0)
    private let findings: Mutex<[EntryReader.Finding]>

    init(_ entries: [OpenedEntry]) {
        self.entries = entries
        files = Self.files(entries)
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
        var reader = EntryReader(directory)
        while !isCancelled() {
            let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard index < files.count else { return }
            for index in files[index] where !isCancelled() {
                let entry = entries[index]
                let finding: EntryReader.Finding
                if let damage = entry.damage {
                    finding = .damaged(damage)
                } else {
                    finding = reader.read(entry, isCancelled: isCancelled)
                }
                findings.withLock { $0[index] = finding }
            }
        }
    }

    /// The positions of the names of each file, which follow each other. One thread reads a file, once for all of them.
    private static func files(_ entries: [OpenedEntry]) -> [Range<Int>] {
        var files: [Range<Int>] = []
        for index in entries.indices {
            if let last = files.last, entries[last.lowerBound].isSameFile(as: entries[index]) {
                files[files.count - 1] = last.lowerBound..<index + 1
            } else {
                files.append(index..<index + 1)
            }
        }
        return files
    }
}
