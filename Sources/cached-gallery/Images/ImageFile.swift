import CLinux
import ClientCore
import Glibc
import NIOCore
import NIOHTTP1

/// An open image. It is closed with the response that sends it, or at the end.
struct ImageFile {
    /// What the record of the entry says.
    let image: FolderImage
    private let handle: NIOFileHandle
    private let size: Int
    /// The entity tag (RFC 9110 §8.8.3), with its quotes: the digest, else when the file was written.
    private let tag: String

    /// Opens the file of an image. `nil` if it is not there any more. open(2), fstat(2).
    init?(path: UnsafePointer<CChar>, _ image: FolderImage) {
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(descriptor)
            return nil
        }
        self.image = image
        size = Int(status.st_size)
        tag =
            Self.digest(of: descriptor, at: path) ?? "\"\(status.st_ino)-\(status.st_mtim.tv_sec)\""
        handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
    }

    /// The digest in `user.cached.` with the first eight digits of the name and `.validators`; `docs/disk-format.md`.
    /// fgetxattr(2).
    private static func digest(of descriptor: Int32, at path: UnsafePointer<CChar>) -> String? {
        let name = path + strlen(path) - ImageName.length
        let attribute = "user.cached.\(prefix(of: name)).validators"
        let start: StaticString = "v2 sha256="
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { room in
            let count = fgetxattr(descriptor, attribute, room.baseAddress, room.count)
            let length = start.utf8CodeUnitCount
            guard count >= length + 64, memcmp(room.baseAddress!, start.utf8Start, length) == 0
            else { return nil }
            let digest = room[length..<(length + 64)]
            guard digest.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }) else { return nil }
            return "\"\(String(decoding: digest, as: UTF8.self))\""
        }
    }

    private static func prefix(of name: UnsafePointer<CChar>) -> String {
        let bytes = UnsafeRawBufferPointer(start: name, count: 8)
        return String(decoding: bytes, as: UTF8.self)
    }

    func close() {
        try? handle.close()
    }

    /// The types that a browser shows without a risk: only pixels come of them.
    private static let rasterTypes: Set<String> = [
        "image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "image/heic",
        "image/jxl",
        "image/bmp", "image/tiff", "image/vnd.microsoft.icon",
    ]

    /// Sends the image, a part of it, or nothing if the client has it already.
    func response(to head: HTTPRequestHead) -> Response {
        if let tags = head.headers.only("if-none-match"), matches(tags) {
            close()
            return finished(Response(.notModified, type: type, .bytes(ByteBuffer())))
        }
        switch ByteRange(head.headers, size: size, tag: tag) {
        case .whole: return finished(sending(0..<size, .ok))
        case .part(let range):
            var response = sending(range, .partialContent)
            response.headers.add(
                name: "Content-Range",
                value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
            return finished(response)
        case .unsatisfiable:
            close()
            var response = Response(
                .rangeNotSatisfiable, type: type, .bytes(ByteBuffer()),
                policy: SecurityHeaders.imagePolicy)
            response.headers.add(name: "Content-Range", value: "bytes */\(size)")
            return response
        }
    }

    private var isRaster: Bool { Self.rasterTypes.contains("\(image.mediaType)") }

    /// The type in the record, which the daemon found in the bytes.
    private var type: String { isRaster ? "\(image.mediaType)" : "application/octet-stream" }

    private func matches(_ tags: String) -> Bool {
        tags == "*"
            || tags.split(separator: ",").contains { part in
                let part = part.drop { $0 == " " }
                return (part.hasPrefix("W/") ? part.dropFirst(2) : part) == tag
            }
    }

    private func sending(_ range: Range<Int>, _ status: HTTPResponseStatus) -> Response {
        let region = FileRegion(
            fileHandle: handle, readerIndex: range.lowerBound, endIndex: range.upperBound)
        var response = Response(
            status, type: type, .file(region), policy: SecurityHeaders.imagePolicy)
        response.headers.add(name: "Content-Length", value: "\(range.count)")
        return response
    }

    private func finished(_ response: Response) -> Response {
        var response = response
        response.headers.add(name: "ETag", value: tag)
        response.headers.add(name: "Accept-Ranges", value: "bytes")
        if !isRaster { response.headers.add(name: "Content-Disposition", value: "attachment") }
        return response
    }
}
