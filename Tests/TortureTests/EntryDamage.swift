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

    private static let attributes =
        ["record", "user.cached.sha256", "user.mime_type", "user.xdg.origin.url"].flatMap {
            attribute in
            let isRecord = attribute == "record"
            // An entry may lack its URL: not every URL fits into the attributes.
            let isDispensable = attribute == "user.xdg.origin.url"
            return [
                EntryDamage(
                    name: "\(attribute) removed",
                    discovery: isRecord ? .atOnce : isDispensable ? .never : .byReading
                ) { fixture, number, _ in
                    let name = try isRecord ? fixture.recordName(number) : attribute
                    try #require(removexattr(try fixture.path(number), name) == 0)
                },
                EntryDamage(
                    name: "\(attribute) garbled", discovery: isRecord ? .atOnce : .byReading
                ) { fixture, number, random in
                    let name = try isRecord ? fixture.recordName(number) : attribute
                    let count = Int.random(in: 0..<200, using: &random)
                    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                    try #require(
                        setxattr(try fixture.path(number), name, bytes, bytes.count, 0) == 0)
                },
                EntryDamage(
                    name: "a bit of \(attribute) flipped",
                    discovery: isRecord ? .atOnce : .byReading
                ) { fixture, number, random in
                    let name = try isRecord ? fixture.recordName(number) : attribute
                    let attributes = ExtendedAttributes(of: try fixture.path(number))
                    // The name of the record's last field, its checksum, carries no information.
                    let end = isRecord ? " sum=01234567".utf8.count : 0
                    var bytes = Array(try #require(try attributes[name]).utf8)
                    let place = Int.random(in: 0..<bytes.count - end, using: &random)
                    // No bit that only changes the case of a letter: a digest may have capitals.
                    bytes[place] ^= 1 << UInt8.random(in: 0..<5, using: &random)
                    try attributes.set(name, String(decoding: bytes, as: UTF8.self))
                },
            ]
        }

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
