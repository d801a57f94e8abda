import Foundation
import Glibc

/// The socket to which a service reports, as the service manager has it. sd_notify(3)
///
///     let manager = try NotifyListener(in: scope)
///     let daemon = try await DaemonFixture.start(environment: ["NOTIFY_SOCKET": manager.address], in: scope)
///     try await manager.waitForMessage("READY=1")
public final class NotifyListener: Sendable {
    /// The value of `NOTIFY_SOCKET`.
    public let address: String
    private let descriptor: Int32
    private let received = Monitor<[String]>([])

    /// Listens until the scope ends, at a path or at an abstract name.
    public init(isAbstract: Bool = false, in scope: TestScope) throws {
        let path = try TemporaryDirectory(in: scope).file("notify")
        address = isAbstract ? "@\(path)" : path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let bytes = isAbstract ? [0] + Array(path.utf8) : Array(path.utf8) + [0]
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        let length = (MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0) + bytes.count
        let isBound = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(length)) == 0
            }
        }
        guard isBound else { throw TestFailure.syscall("bind", address) }
        Thread.detachNewThread { [descriptor, received] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                let text = String(decoding: buffer[..<count], as: UTF8.self)
                received.change { $0.append(text) }
            }
            close(descriptor)
        }
        // Ends the thread, which closes the descriptor.
        scope.atEnd { [descriptor] in shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    /// All messages so far.
    public var messages: [String] { received.value }

    /// Waits for the `count`th message that has a line beginning with `prefix`, and returns it.
    @discardableResult
    public func waitForMessage(
        _ prefix: String, count: Int = 1, within limit: Duration = .patience
    ) async throws -> String {
        try await received.wait(for: "\(count) × \(prefix)", within: limit) { messages in
            messages.filter { message in
                message.split(separator: "\n").contains { $0.hasPrefix(prefix) }
            }.dropFirst(count - 1).first
        }
    }

    /// How many messages have a line beginning with `prefix`.
    public func count(_ prefix: String) -> Int {
        messages.count { $0.split(separator: "\n").contains { $0.hasPrefix(prefix) } }
    }
}
