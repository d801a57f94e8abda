import ArgumentParser
import CLinux
import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import ImageFormats

/// A directory of entries that were never downloaded, with the attributes of real ones, to measure
/// scans and evictions.
struct SyntheticDirectory {
    let path: String

    /// Writes entries of `bytes` bytes each. The order of their use is that of their numbers.
    func fill(count: Int, bytes: Int) throws {
        mkdir(path, 0o700)
        var content = [UInt8](repeating: 0xA5, count: bytes)
        for number in 0..<count {
            // Files with equal bytes would become one.
            for (place, digit) in String(number).utf8.enumerated() where place < bytes {
                content[place] = digit
            }
            try write(
                Entry(
                    url: try Self.url(number), content: content, mediaType: .png, width: 85,
                    height: 86, digest: number + 1, used: number))
        }
        sync()
    }

    /// Writes photographs that have smaller images, 200 of each day. Only their smaller images have pixels.
    func fill(count: Int, with photographs: [Photograph]) throws {
        mkdir(path, 0o700)
        for number in 0..<count {
            let photograph = photographs[number % photographs.count]
            let url = "http://127.0.0.1/synthetic/\(number).jpg"
            var entry = Entry(
                url: try CacheURL(url), content: Array("\(number)".utf8), mediaType: .jpeg,
                width: photograph.width, height: photograph.height, digest: 8 * number + 1,
                used: number)
            entry.fetchedAt = UnixTime(rawValue: 1_780_000_000 + UInt32(number / 200) * 86_400)
            entry.freshUntil = UnixTime(rawValue: 4_000_000_000)
            try write(entry)
            for (place, smaller) in photograph.smaller.enumerated() {
                entry.url = try CacheURL("\(url)#side=\(smaller.side)")
                entry.content = smaller.bytes
                (entry.width, entry.height) = (smaller.width, smaller.height)
                entry.digest = 8 * number + 2 + place
                try write(entry)
            }
        }
        sync()
    }

    private struct Entry {
        var url: CacheURL
        var content: [UInt8]
        var mediaType: MediaType
        var width: Int
        var height: Int
        /// A number in the place of a digest. No measurement compares it with the bytes.
        var digest: Int
        /// The place in the order of use.
        var used: Int
        var fetchedAt = UnixTime(rawValue: 1_790_000_000)
        var freshUntil: UnixTime?
    }

    private func write(_ entry: Entry) throws {
        let key = CacheKey(entry.url)
        let content = entry.content
        let file = open("\(path)/\(key)", O_WRONLY | O_CREAT | O_EXCL, 0o644)
        try check(file >= 0, "create an entry")
        defer { close(file) }
        try check(Glibc.write(file, content, content.count) == content.count, "write an entry")
        var record = EntryRecord(
            size: Int64(content.count), mediaType: entry.mediaType, width: entry.width,
            height: entry.height, fetchedAt: entry.fetchedAt, freshUntil: entry.freshUntil,
            validators: Validators(entityTag: "\"\(entry.used)\""), isPinned: false)
        record.digestPrefix = UInt32(truncatingIfNeeded: entry.digest)
        let digits = String(entry.digest, radix: 16)
        let digest = String(repeating: "0", count: 8 - digits.count) + digits
        let validators = ValidatorRecord(
            digest: digest + String(repeating: "0", count: 56), validators: record.validators)
        // In the order of the daemon, which decides what lies in the inode.
        try set(EntryRecord.attributeName(of: key), record.bytes, file)
        try set(ValidatorRecord.attributeName(of: key), Array(validators.text.utf8), file)
        try set(EntryAttributes.mediaType, Array(entry.mediaType.name.utf8), file)
        try set(EntryAttributes.url, Array(entry.url.string.utf8), file)
        let received = timespec(tv_sec: Int(entry.fetchedAt.rawValue), tv_nsec: entry.used)
        let used = timespec(tv_sec: 1_790_000_000, tv_nsec: entry.used)
        try check(futimens(file, [used, received]) == 0, "set the times of an entry")
    }

    private func set(_ name: String, _ value: [UInt8], _ file: Int32) throws {
        try check(
            fsetxattr(file, name, value, value.count, 0) == 0, "set an attribute of an entry")
    }

    private func check(_ isDone: Bool, _ step: String) throws {
        guard !isDone else { return }
        throw ValidationError("cannot \(step) in \(path): \(String(cString: strerror(errno)))")
    }

    private static func url(_ number: Int) throws -> CacheURL {
        try CacheURL("http://127.0.0.1/synthetic/\(number).png")
    }

    /// The names of the first `count` entries, in the order of their use.
    static func names(count: Int) throws -> [String] {
        try (0..<count).map { CacheKey(try url($0)).description }
    }
}
