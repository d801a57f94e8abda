import CLinux
import CacheValues
import Glibc
import HTTPCaching
import ImageFormats

/// A file that is to become a cached image.
final class ImportSource {
    private let path: String
    private let descriptor: Int32
    private let status: stat

    /// What is known of an image after its bytes were read.
    struct Record {
        var entry: EntryRecord
        let digest: ContentDigest
    }

    init(_ path: String) throws(CommandFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            let failure = CommandFailure.system("read \(path)")
            if descriptor >= 0 { close(descriptor) }
            throw failure
        }
        (self.path, self.descriptor, self.status) = (path, descriptor, status)
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(status: .inputOutput, message: "\(path) is not a regular file")
        }
    }

    deinit { close(descriptor) }

    /// Copies the bytes to an open file, and looks at them on their way.
    ///
    /// - Throws: if they are not a whole image.
    func copy(to file: Int32) throws(CommandFailure) -> Record {
        var sha256 = SHA256()
        var inspector = ImageInspector()
        var size: Int64 = 0
        var room = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = read(descriptor, &room, room.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("read \(path)") }
            if count == 0 { break }
            size += Int64(count)
            room.withUnsafeBytes { all in
                let bytes = UnsafeRawBufferPointer(rebasing: all[..<count])
                inspector.consume(bytes)
                sha256.update(bytes)
            }
            try write(room[..<count], to: file)
        }
        let digest = sha256.finish()
        return Record(
            entry: try record(inspector.finish(), size, digest), digest: digest)
    }

    /// The file's last change counts as the answer of the origin, whose lifetime is unknown.
    private func record(
        _ report: ImageReport, _ size: Int64, _ digest: ContentDigest
    ) throws(CommandFailure) -> EntryRecord {
        guard let type = report.mediaType, type != .other, report.completeness != .malformed,
            report.completeness != .empty, report.completeness != .cut
        else {
            throw CommandFailure(
                status: .incomplete,
                message: report.mediaType.map { "\(path) is no whole image of the type \($0.name)" }
                    ?? "\(path) is no image of a known format")
        }
        let confirmed = UnixTime(clamping: min(Int64(status.st_mtim.tv_sec), Int64(time(nil))))
        var record = EntryRecord(
            size: size, mediaType: type, width: nil, height: nil, fetchedAt: confirmed,
            freshUntil: confirmed + Self.lifetime, validators: Validators(), isPinned: false)
        record.take(report)
        record.digestPrefix = digest.prefix
        return record
    }

    /// Seconds, as of an answer that names none.
    private static let lifetime: Int64 = 3600

    /// write(2).
    private func write(_ bytes: ArraySlice<UInt8>, to file: Int32) throws(CommandFailure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("write the copy of \(path)") }
            rest = rest.dropFirst(count)
        }
    }
}
