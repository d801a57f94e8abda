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
            try write(number, content)
        }
        sync()
    }

    private func write(_ number: Int, _ content: [UInt8]) throws {
        let url = try Self.url(number)
        let key = CacheKey(url)
        let file = open("\(path)/\(key)", O_WRONLY | O_CREAT | O_EXCL, 0o644)
        try check(file >= 0, "create an entry")
        defer { close(file) }
        try check(Glibc.write(file, content, content.count) == content.count, "write an entry")
        var record = EntryRecord(
            size: Int64(content.count), mediaType: .png, width: 85, height: 86,
            fetchedAt: UnixTime(rawValue: 1_790_000_000), freshUntil: nil,
            validators: Validators(entityTag: "\"\(number)\""), isPinned: false)
        // No measurement compares the digest with the bytes.
        record.digestPrefix = UInt32(truncatingIfNeeded: number + 1)
        let digits = String(number + 1, radix: 16)
        let digest = String(repeating: "0", count: 8 - digits.count) + digits
        let validators = ValidatorRecord(
            digest: digest + String(repeating: "0", count: 56), validators: record.validators)
        // In the order of the daemon, which decides what lies in the inode.
        try set(EntryRecord.attributeName(of: key), record.bytes, file)
        try set(ValidatorRecord.attributeName(of: key), Array(validators.text.utf8), file)
        try set(EntryAttributes.mediaType, Array("image/png".utf8), file)
        try set(EntryAttributes.url, Array(url.string.utf8), file)
        let used = timespec(tv_sec: 1_790_000_000, tv_nsec: number)
        try check(futimens(file, [used, used]) == 0, "set the times of an entry")
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
