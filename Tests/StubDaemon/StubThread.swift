import CTestSupport
import Glibc

/// The thread of a stub. It accepts connections, each of which has a thread that answers its calls.
final class StubThread: Sendable {
    private let listener: Int32
    private let script: StubDaemon.Script
    /// Descriptors that come with each reply.
    private let files: [Int32]

    init(listener: Int32, files: [Int32], script: @escaping StubDaemon.Script) {
        (self.listener, self.files) = (listener, files)
        self.script = script
    }

    /// Starts the thread, which ends when the listener is shut down.
    func start() throws(StubError) {
        try Self.detach { [self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                let serves: Void? = try? Self.detach { [self] in
                    serve(connection)
                    close(connection)
                }
                if serves == nil { close(connection) }
            }
            close(listener)
        }
    }

    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Does some work on a thread of its own. pthread_create(3).
    private static func detach(_ body: @escaping @Sendable () -> Void) throws(StubError) {
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().body()
                return nil
            }, Unmanaged.passRetained(Work(body)).toOpaque())
        guard result == 0 else { throw StubError(call: "pthread_create", number: result) }
        pthread_detach(thread)
    }

    private func serve(_ connection: Int32) {
        var pending: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            while let end = pending.firstIndex(of: 0) {
                let call = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeSubrange(...end)
                guard let replies = script(call) else { return }
                for reply in replies where !sendAll(reply + "\0", connection) { return }
            }
            let count = recv(connection, &room, room.count, 0)
            guard count > 0 else { return }
            pending += room[..<count]
        }
    }

    private func sendAll(_ text: String, _ connection: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                ctest_send(connection, bytes.baseAddress, bytes.count, files, files.count)
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
