import CTestSupport
import Foundation
import Glibc

/// One thread of a child that stands still while the others run. ptrace(2)
///
///     let frozen = try await FrozenThread(of: daemon.process, named: "transfers")
///     …
///     try await frozen.thaw()
public final class FrozenThread: Sendable {
    private let gate = DispatchSemaphore(value: 0)
    private let state = Monitor(State.running)

    private enum State: Sendable, Equatable {
        case running, frozen, thawed
        case failed(errno: Int32)
    }

    /// Returns once the thread stands still.
    public init(of process: ChildProcess, named name: String) async throws {
        guard let thread = try process.thread(named: name) else {
            throw TestFailure("\(process.executable) has no thread named \(name)")
        }
        // The kernel takes further requests only from the thread that made the first one.
        Thread.detachNewThread { [gate, state] in
            let isFrozen = ctest_freeze_thread(thread) == 0
            let reason = errno
            state.change { $0 = isFrozen ? .frozen : .failed(errno: reason) }
            guard isFrozen else { return }
            gate.wait()
            ctest_thaw_thread(thread)
            state.change { $0 = .thawed }
        }
        let reached = try await reached { $0 != .running }
        if case .failed(let reason) = reached {
            throw TestFailure.syscall("ptrace", name, errno: reason)
        }
    }

    /// Lets the thread go on.
    public func thaw() async throws {
        gate.signal()
        _ = try await reached { $0 == .thawed }
    }

    private func reached(_ isReached: @escaping @Sendable (State) -> Bool) async throws -> State {
        try await state.wait(for: "a frozen thread", within: .patience) {
            isReached($0) ? $0 : nil
        }
    }

    deinit { gate.signal() }
}
