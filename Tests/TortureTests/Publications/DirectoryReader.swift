import Foundation
import Glibc
import Synchronization
import TestSupport

/// A reader that does not use the daemon. It repeatedly opens every name without a suffix and compares the
/// content with the origin.
final class DirectoryReader: Sendable {
    private struct State {
        var imagesRead = 0
        var bad: [String] = []
        var isStopping = false
    }

    private let state = Mutex(State())
    private let directory: String
    private let origin: ImageOrigin
    private let oracle: Oracle

    /// Reads until the scope ends.
    init(_ directory: String, _ origin: ImageOrigin, _ oracle: Oracle, in scope: TestScope) {
        self.directory = directory
        self.origin = origin
        self.oracle = oracle
        let reading = Task { try await offPool { [self] in readOn() } }
        scope.atEnd { [self] in
            state.withLock { $0.isStopping = true }
            try await reading.value
        }
    }

    /// The number of images it has read.
    var imagesRead: Int { state.withLock { $0.imagesRead } }

    /// - Throws: `TestFailure` if one of them was not a complete image.
    func requireValid() throws {
        let bad = state.withLock { $0.bad }
        guard bad.isEmpty else { throw TestFailure("a reader found incomplete images: \(bad)") }
    }

    private func readOn() {
        while !state.withLock({ $0.isStopping }) {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            for name in names where name.utf8.count == 36 { check(name) }
            // Leaves the processor to the daemon and its clients.
            usleep(2000)
        }
    }

    /// A file that has disappeared since is fine.
    private func check(_ name: String) {
        // The URL is looked up first: if it is forgotten after that, its file is gone already.
        let url = oracle.url(of: name)
        guard let bytes = try? contents(of: "\(directory)/\(name)") else { return }
        let isWhole = url.map { origin.canServe(bytes, $0) } == true
        state.withLock { state in
            state.imagesRead += 1
            if !isWhole { state.bad.append("\(name), \(bytes.count) bytes") }
        }
    }
}
