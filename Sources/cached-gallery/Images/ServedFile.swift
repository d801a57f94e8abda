import CLinux
import CacheWire
import ClientCore
import Glibc
import MediaTypes
import NIOCore
import NIOHTTP1

/// An open image. It is closed with the response that sends it, or at the end.
struct ServedFile {
    /// The type that the daemon found in the bytes; `other` if it is not known.
    private let mediaType: MediaType
    /// The Unix second until which the image may be used without asking its origin; 0 if it is not known.
    let freshUntil: Int
    private let handle: NIOFileHandle
    private let size: Int
    /// The entity tag (RFC 9110 §8.8.3), with its quotes: the digest, else when the file was written.
    private let tag: String

    /// Opens the file of an image. `nil` if it is not there any more. open(2).
    init?(path: UnsafePointer<CChar>, _ image: FolderImage) {
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.init(
            descriptor, type: image.type, freshUntil: Int(image.freshUntil),
            digest: Self.digest(of: descriptor, at: path))
    }

    /// Takes a file that the daemon has handed over.
    init?(_ descriptor: Int32, _ item: Item) {
        self.init(
            descriptor, type: item.mediaType.flatMap { MediaType(name: $0) } ?? .other,
            freshUntil: item.freshUntil ?? 0,
            digest: item.sha256)
    }

    /// Closes what is not a regular file. fstat(2).
    private init?(_ descriptor: Int32, type: MediaType, freshUntil: Int, digest: String?) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(descriptor)
            return nil
        }
        (mediaType, self.freshUntil) = (type, freshUntil)
        size = Int(status.st_size)
        tag = "\"\(digest ?? "\(status.st_ino)-\(status.st_mtim.tv_sec)")\""
        handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
    }

    /// The digest in `user.cached.` with the first eight digits of the name and `.validators`; `docs/lookup/disk-format.md`.
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
            return String(decoding: digest, as: UTF8.self)
        }
    }

    private static func prefix(of name: UnsafePointer<CChar>) -> String {
        let bytes = UnsafeRawBufferPointer(start: name, count: 8)
        return String(decoding: bytes, as: UTF8.self)
    }

    func close() {
        try? handle.close()
    }

    /// The descriptor, which the caller closes.
    func takeDescriptor() -> Int32? {
        try? handle.takeDescriptorOwnership()
    }

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

    /// A browser shows a raster image without a risk. Anything else is a download.
    private var type: String { (mediaType.isRaster ? mediaType : .other).name }

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
        if !mediaType.isRaster {
            response.headers.add(name: "Content-Disposition", value: "attachment")
        }
        return response
    }
}
