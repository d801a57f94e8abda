internal import Synchronization

/// The changes that one reader has not taken yet. Each image has only its newest change, at the position of its
/// first.
final class ChangeBuffer: Sendable {
    private struct State {
        var order: [String] = []
        /// The keys before this index were taken.
        var start = 0
        var changes: [String: ImageChange] = [:]
        var reader: CheckedContinuation<ImageChange?, Never>?
        var isCancelled = false

        enum Taken {
            case now(ImageChange?)
            case later
        }

        /// Takes the oldest change. If there is none, the reader waits for one.
        mutating func take(orLet reader: CheckedContinuation<ImageChange?, Never>) -> Taken {
            if isCancelled { return .now(nil) }
            guard start < order.count else {
                self.reader = reader
                return .later
            }
            let change = changes.removeValue(forKey: order[start])
            start += 1
            // A reader that never catches up must not keep the names that it has taken.
            if start > order.count / 2 {
                order.removeFirst(start)
                start = 0
            }
            return .now(change)
        }
    }

    private let state = Mutex(State())

    func put(_ change: ImageChange) {
        let reader = state.withLock { state -> CheckedContinuation<ImageChange?, Never>? in
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            let name = change.key.isEmpty ? change.url : change.key
            if state.changes.updateValue(change, forKey: name) == nil { state.order.append(name) }
            return nil
        }
        reader?.resume(returning: change)
    }

    func next(isolation actor: isolated (any Actor)?) async -> ImageChange? {
        await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: actor) { continuation in
                let taken = state.withLock { $0.take(orLet: continuation) }
                if case .now(let change) = taken { continuation.resume(returning: change) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                state.isCancelled = true
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: nil)
        }
    }
}
