import CLinux
import ClientCore
import Glibc
import MediaTypes
import NIOCore
import NIOHTTP1

/// The bytes of a download that are here so far, for browsers that draw an image from its beginning.
struct PartialImage {
    private let descriptor: Int32
    private let size: Int

    /// Opens the partial download of an image as its file is opened; `nil` if there is none. open(2), fstat(2).
    init?(of name: ImageName, in directory: String) {
        let path = "\(directory)/\(name.text).part"
        descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(descriptor)
            return nil
        }
        size = Int(status.st_size)
    }

    /// Sends what is here. The type is that which the daemon has found in the bytes; a browser shows no other than a
    /// raster image.
    func response(as type: MediaType) -> Response {
        let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
        let region = FileRegion(fileHandle: handle, readerIndex: 0, endIndex: size)
        var response = Response(
            type: (type.isRaster ? type : .other).name, .file(region),
            policy: SecurityHeaders.imagePolicy)
        response.headers.add(name: "Content-Length", value: "\(size)")
        response.headers.add(name: "Cache-Control", value: "no-store")
        return response
    }
}
