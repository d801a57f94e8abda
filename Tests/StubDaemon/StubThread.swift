import CTestSupport
import Glibc

/// The thread of a stub. It accepts one connection after another and answers their calls.
final class StubThread: Sendable {
    private let listener: Int32
    private let script: StubDaemon.Script
    /// Descriptors that come with each reply.
    private let files: [Int32]

    init(listener: Int32, files: [Int32], script: @escaping StubDaemon.Script) {
        (self.listener, self.files) = (listener, files)
        self.script = script
    }

    /// Starts the thread and detaches it. It ends when the listener is shut down.
    /// pthread_create(3).
    func start() throws(StubError) {
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<StubThread>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        guard result == 0 else { throw StubError(call: "pthread_create", number: result) }
        pthread_detach(thread)
    }

    private func run() {
        while case let connection = accept(listener, nil, nil), connection >= 0 {
            serve(connection)
            close(connection)
        }
        close(listener)
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
