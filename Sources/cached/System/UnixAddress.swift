import Glibc

/// The address of a Unix socket: a path, or a name in the abstract namespace. unix(7).
struct UnixAddress: Sendable {
    /// The longest path in bytes, without the NUL at its end.
    static let longestPath = 107

    /// The path; an abstract name begins with `@`, as ss(8) and systemd write it.
    let text: String
    private let address: sockaddr_un
    private let length: socklen_t

    /// Where the path begins in the structure.
    private static let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0

    /// Fails if the path is too long.
    init?(path: String) {
        self.init(text: path, bytes: Array(path.utf8) + [0])
    }

    /// A path, or `@` and an abstract name. Fails if it is too long.
    init?(_ text: String) {
        guard text.hasPrefix("@") else {
            self.init(path: text)
            return
        }
        self.init(text: text, bytes: [0] + text.utf8.dropFirst())
    }

    /// The address that a socket is bound to; `nil` if it is not a bound Unix socket. getsockname(2).
    init?(of descriptor: Int32) {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isRead = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isRead, address.sun_family == sa_family_t(AF_UNIX), Int(length) > Self.offset else {
            return nil
        }
        let name = withUnsafeBytes(of: &address.sun_path) { path in
            Array(path.prefix(Int(length) - Self.offset))
        }
        let isAbstract = name.first == 0
        let characters = isAbstract ? name.dropFirst() : name.prefix { $0 != 0 }
        text = (isAbstract ? "@" : "") + String(decoding: characters, as: UTF8.self)
        (self.address, self.length) = (address, length)
    }

    private init?(text: String, bytes: [UInt8]) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { path in
            guard bytes.count <= path.count else { return false }
            path.copyBytes(from: bytes)
            return true
        }
        guard fits else { return nil }
        self.text = text
        self.address = address
        length = socklen_t(Self.offset + bytes.count)
    }

    /// Calls `body` with the address as bind(2), connect(2) and sendto(2) take it.
    func withPointer<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
