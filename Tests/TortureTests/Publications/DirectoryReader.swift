import Foundation
import Glibc
import Synchronization
import TestSupport

/// A reader that asks no daemon: opens every name without a suffix, over and over, and compares what it
/// reads with the origin.
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

    /// How many images it has read.
    var imagesRead: Int { state.withLock { $0.imagesRead } }

    /// - Throws: `TestFailure` if one of them was not whole.
    func requireValid() throws {
        let bad = state.withLock { $0.bad }
        guard bad.isEmpty else { throw TestFailure("a reader found, under plain names: \(bad)") }
    }

    private func readOn() {
        while !state.withLock({ $0.isStopping }) {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            for name in names where name.utf8.count == 36 { check(name) }
            // Leaves the processor to those it watches.
            usleep(2000)
        }
    }

    /// What is gone by now is as it should be.
    private func check(_ name: String) {
        // Asked for first: of what is forgotten meanwhile, there is no file any more.
        let url = oracle.url(of: name)
        guard let bytes = try? contents(of: "\(directory)/\(name)") else { return }
        let isWhole = url.map { origin.canServe(bytes, $0) } == true
        state.withLock { state in
            state.imagesRead += 1
            if !isWhole { state.bad.append("\(name), \(bytes.count) bytes") }
        }
    }
}
