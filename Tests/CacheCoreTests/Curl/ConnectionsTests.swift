import Glibc
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Connections with unread data, and silent ones.
@Suite("Connections")
struct ConnectionsTests {
    private let connections = Connections(ReceiveGuard())

    /// The two ends of a TCP connection. The cache opened the first one.
    private func pair(_ scope: TestScope) throws -> (ours: Int32, theirs: Int32, port: Int) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let ours = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        connections.opened(ours, to: "https://a")
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, address, &length) == 0
                    && connect(ours, address, length) == 0
                    && getsockname(ours, address, &length) == 0
            }
        }
        try #require(isConnected)
        let theirs = accept(listener, nil, nil)
        try #require(theirs >= 0)
        scope.atEnd { close(theirs) }
        return (ours, theirs, Int(UInt16(bigEndian: address.sin_port)))
    }

    @Test func unreadDataIsFound() async throws {
        try await withTestScope { scope in
            let (ours, theirs, port) = try pair(scope)
            #expect(!connections.hasUnread(localPort: port))
            try #require(send(theirs, "x", 1, 0) == 1)
            try await waitUntil("the byte") { connections.hasUnread(localPort: port) }
            #expect(connections.close(ours) == 0)
            #expect(!connections.hasUnread(localPort: port))
        }
    }

    @Test func aSilentConnectionIsShutDown() async throws {
        try await withTestScope { scope in
            let (ours, theirs, port) = try pair(scope)
            connections.heard(onLocalPort: port, 1)
            connections.shutDownIfSilent(localPort: port, for: .seconds(3600))
            try #require(send(ours, "x", 1, Int32(MSG_NOSIGNAL)) == 1)
            connections.shutDownIfSilent(localPort: port, for: .zero)
            #expect(send(ours, "x", 1, Int32(MSG_NOSIGNAL)) == -1)
            var byte: UInt8 = 0
            #expect(recv(theirs, &byte, 1, 0) == 1)
            #expect(recv(theirs, &byte, 1, 0) == 0)
            _ = connections.close(ours)
            // This connection never brought anything.
            let silent = try pair(scope)
            connections.shutDownIfSilent(localPort: silent.port, for: .seconds(3600))
            #expect(recv(silent.theirs, &byte, 1, 0) == 0)
            _ = connections.close(silent.ours)
        }
    }
}
