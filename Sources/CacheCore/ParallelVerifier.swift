import CLinux
import Glibc
internal import Synchronization

/// Entries that are read side by side, one thread a core, or as many as there may be. The threads run only
/// where nobody else wants to, and take no lock anybody else could wait for.
final class ParallelVerifier: Sendable {
    private let specimens: [OpenedEntry]
    private let next = Atomic(0)
    private let findings: Mutex<[EntryReader.Finding]>

    init(_ specimens: [OpenedEntry]) {
        self.specimens = specimens
        findings = Mutex(Array(repeating: .undecided, count: specimens.count))
    }

    /// Reads all; what was found, in order.
    func read(
        _ directory: CacheDirectory, isCancelled: @escaping @Sendable () -> Bool
    ) -> [EntryReader.Finding] {
        let cores = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
        let threads = (0..<min(cores, specimens.count)).compactMap { _ in
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
            let place = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard place < specimens.count else { return }
            let finding =
                specimens[place].damage.map { .damaged($0) }
                ?? reader.read(specimens[place], isCancelled: isCancelled)
            findings.withLock { $0[place] = finding }
        }
    }
}
