import CTestSupport
import Glibc

/// The extended attributes of a file, links not followed. xattr(7).
///
///     let attributes = ExtendedAttributes(of: path)
///     #expect(try attributes["user.mime_type"] == "image/png")
public struct ExtendedAttributes: Sendable {
    private let path: String

    public init(of path: String) {
        self.path = path
    }

    /// The attributes of an entry once the daemon has written all of them, which it does within two seconds.
    public static func all(of path: String) async throws -> ExtendedAttributes {
        let attributes = ExtendedAttributes(of: path)
        let record = "user.cached." + path.suffix(36).prefix(8)
        try await waitUntil("all attributes of \(path)") {
            // The flag 32768: the others are still to be written.
            try attributes.bytes(of: record).map { $0[5] & 0x80 == 0 } == true
        }
        return attributes
    }

    /// All names. llistxattr(2).
    public func names() throws -> [String] {
        var buffer = [CChar](repeating: 0, count: 65536)
        let count = ctest_list_attributes(path, &buffer, buffer.count)
        guard count >= 0 else { throw TestFailure.syscall("llistxattr", path) }
        return buffer[..<count].split(separator: 0).map { name in
            String(decoding: name.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// The value of one attribute as text; `nil` if it does not exist.
    public subscript(name: String) -> String? {
        get throws { try bytes(of: name).map { String(decoding: $0, as: UTF8.self) } }
    }

    /// The value of one attribute; `nil` if it does not exist. lgetxattr(2).
    public func bytes(of name: String) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = ctest_get_attribute(path, name, &buffer, buffer.count)
        if count < 0 && errno == ENODATA { return nil }
        guard count >= 0 else { throw TestFailure.syscall("lgetxattr", path) }
        return Array(buffer[..<count])
    }

    /// Sets one attribute to text.
    public func set(_ name: String, _ value: String) throws {
        try set(name, Array(value.utf8))
    }

    /// Sets one attribute. lsetxattr(2).
    public func set(_ name: String, _ bytes: [UInt8]) throws {
        guard ctest_set_attribute(path, name, bytes, bytes.count) == 0 else {
            throw TestFailure.syscall("lsetxattr", path)
        }
    }
}
