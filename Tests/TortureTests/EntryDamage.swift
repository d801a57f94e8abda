import CLinux
import CacheKey
import CacheWire
import Glibc
import TestSupport
import Testing

/// One way to damage an entry, and how the cache must react.
struct EntryDamage: Sendable, CustomTestStringConvertible {
    /// How the damage is detected.
    enum Discovery {
        /// By the next status call.
        case atOnce
        /// By a verification; until then the entry counts as intact.
        case byReading
        /// Never, because the entry is still valid.
        case never
    }

    let name: String
    var discovery = Discovery.atOnce
    /// Whether a fetch restores the entry; otherwise it fails as `obstructed`.
    var canBeReplaced = true
    var needsRoot = false
    let apply: @Sendable (FilledDirectory, Int, inout SeededGenerator) throws -> Void

    var testDescription: String { name }

    static let all: [EntryDamage] = content + attributes + types + owners

    /// The kinds of damage that this user is able to cause.
    static let possible = all.filter { !$0.needsRoot || geteuid() == 0 }

    // MARK: Content

    private static let content = [
        EntryDamage(name: "truncated") { fixture, number, random in
            let size = Int.random(in: 1..<fixture.images[number].count, using: &random)
            try #require(truncate(try fixture.path(number), size) == 0)
        },
        EntryDamage(name: "grown") { fixture, number, random in
            let more = Int.random(in: 1..<10_000, using: &random)
            let size = fixture.images[number].count + more
            try #require(truncate(try fixture.path(number), size) == 0)
        },
        EntryDamage(name: "emptied") { fixture, number, _ in
            try #require(truncate(try fixture.path(number), 0) == 0)
        },
        EntryDamage(name: "a bit flipped", discovery: .byReading) { fixture, number, random in
            try flipBit(fixture, number, using: &random)
        },
    ]

    static func flipBit(
        _ fixture: FilledDirectory, _ number: Int, using random: inout SeededGenerator
    ) throws {
        let file = open(try fixture.path(number), O_RDWR | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        let place = Int.random(in: 0..<fixture.images[number].count, using: &random)
        var byte = fixture.images[number][place] ^ (1 << UInt8.random(in: 0..<8, using: &random))
        try #require(pwrite(file, &byte, 1, off_t(place)) == 1)
    }

    // MARK: Attributes

    private static let attributes = kinds.flatMap { kind in
        [
            EntryDamage(
                name: "\(kind.name) removed",
                discovery: kind.isDispensable ? .never : kind.discovery
            ) { fixture, number, _ in
                let name = try kind.attribute(fixture, number)
                try #require(removexattr(try fixture.path(number), name) == 0)
            },
            EntryDamage(name: "\(kind.name) garbled", discovery: kind.discovery) {
                fixture, number, random in
                let count = Int.random(in: 0..<200, using: &random)
                let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                try ExtendedAttributes(of: try fixture.path(number)).set(
                    try kind.attribute(fixture, number), bytes)
            },
            EntryDamage(name: "a bit of \(kind.name) flipped", discovery: kind.discovery) {
                fixture, number, random in
                let name = try kind.attribute(fixture, number)
                let attributes = ExtendedAttributes(of: try fixture.path(number))
                var bytes = try #require(try attributes.bytes(of: name))
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                try attributes.set(name, bytes)
            },
        ]
    }

    /// An attribute of an entry.
    private struct Attribute {
        let name: String
        let discovery: Discovery
        /// Whether an entry may lack it: not every URL fits into the attributes.
        var isDispensable = false
        let attribute: @Sendable (FilledDirectory, Int) throws -> String
    }

    private static let kinds = [
        Attribute(name: "record", discovery: .atOnce) { try $0.recordName($1) },
        Attribute(name: "validators", discovery: .byReading) {
            try $0.recordName($1) + ".validators"
        },
        Attribute(name: "user.mime_type", discovery: .byReading) { _, _ in "user.mime_type" },
        Attribute(name: "user.xdg.origin.url", discovery: .byReading, isDispensable: true) { _, _ in
            "user.xdg.origin.url"
        },
    ]

    // MARK: File types

    private static let types = [
        EntryDamage(name: "a directory", canBeReplaced: false) { fixture, number, _ in
            try replace(fixture, number) { mkdir($0, 0o700) }
        },
        EntryDamage(name: "a directory that is not empty", canBeReplaced: false) {
            fixture, number, _ in
            try replace(fixture, number) { mkdir($0, 0o700) }
            try writeFile([1], to: try fixture.path(number) + "/file")
        },
        EntryDamage(name: "a link to another entry") { fixture, number, _ in
            let other = try fixture.path((number + 1) % fixture.urls.count)
            try replace(fixture, number) { symlink(other, $0) }
        },
        EntryDamage(name: "a link to the same bytes outside") { fixture, number, _ in
            let outside = fixture.elsewhere.file("outside-\(number)")
            unlink(outside)
            try writeFile(fixture.images[number], to: outside)
            try replace(fixture, number) { symlink(outside, $0) }
        },
        EntryDamage(name: "a dangling link") { fixture, number, _ in
            try replace(fixture, number) { symlink("/nonexistent/\(number)", $0) }
        },
        EntryDamage(name: "a FIFO") { fixture, number, _ in
            try replace(fixture, number) { mkfifo($0, 0o600) }
        },
        EntryDamage(name: "a socket") { fixture, number, _ in
            try replace(fixture, number) { mknod($0, S_IFSOCK | 0o600, 0) }
        },
        EntryDamage(name: "a device", needsRoot: true) { fixture, number, _ in
            // /dev/zero, which never ends. zero(4)
            try replace(fixture, number) { mknod($0, S_IFCHR | 0o600, 1 << 8 | 5) }
        },
    ]

    private static func replace(
        _ fixture: FilledDirectory, _ number: Int, _ make: (String) -> Int32
    ) throws {
        let path = try fixture.path(number)
        try #require(unlink(path) == 0)
        try #require(make(path) == 0, "errno \(errno)")
    }

    // MARK: Ownership and permissions

    private static let owners = [
        EntryDamage(name: "another owner", needsRoot: true) { fixture, number, _ in
            try #require(chown(try fixture.path(number), 65534, 65534) == 0)
        },
        EntryDamage(name: "mode 000") { fixture, number, _ in
            try #require(chmod(try fixture.path(number), 0) == 0)
        },
    ]
}
