import ClientCore
import Glibc
import MediaTypes
import NIOCore
import NIOHTTP1

/// The images of the cache directory, opened as any application opens them: by their path, else by the daemon. Used on
/// the event loop only.
final class ImageFolder {
    private let daemon: DaemonClient
    private var folder = Folder([])

    /// The path of the cache directory; `nil` while it is not known.
    var directory: String? {
        didSet {
            guard directory != oldValue else { return }
            folder = Folder(Array((directory ?? "").utf8))
        }
    }

    init(_ daemon: DaemonClient) {
        self.daemon = daemon
    }

    /// Opens the path of a cached image; `nil` if it is not there, or may not be read.
    func open(_ name: ImageName) -> ServedFile? {
        guard directory != nil, let image = try? folder.look(name), image.state == .cached else {
            return nil
        }
        return ServedFile(path: folder.lastPath, image)
    }

    /// Opens a cached image by its path. If that fails, the daemon is asked for the file, because this user may not be
    /// permitted to enter the directory.
    func open(_ name: ImageName, _ then: @escaping (ServedFile?) -> Void) {
        if let file = open(name) { return then(file) }
        daemon.open(name, then)
    }

    /// Why programs of this user cannot open the path of an image, as errno; `nil` if they can. access(2).
    func obstacle(to name: ImageName) -> Int32? {
        guard let directory else { return ENOENT }
        return access("\(directory)/\(name.text)", R_OK) == 0 ? nil : errno
    }

    /// What is here of an image that is being downloaded, which is all of it if the download has ended since the page
    /// asked. There is no content if nothing is here.
    func partial(of key: Substring, as type: String?, to request: HTTPRequest)
        throws(Refusal) -> Response
    {
        guard let name = Self.name(key), let type = type.flatMap({ MediaType(name: $0) }) else {
            throw .query
        }
        if let directory, let image = PartialImage(of: name, in: directory) {
            return image.response(as: type)
        }
        return open(name).map { .shown($0, to: request) } ?? .nothingReady
    }

    private static func name(_ key: Substring) -> ImageName? {
        var key = key
        return key.withUTF8 { ImageName(text: UnsafeRawBufferPointer($0)) }
    }

    /// The image with a key, as the page shows it.
    func respond(
        to request: HTTPRequest, key: Substring, _ then: @escaping (Response) -> Void
    ) throws(Refusal) {
        // A file name can follow, under which a browser saves the image.
        guard let name = Self.name(key.prefix { $0 != "/" }) else { throw .nothingHere }
        open(name) { file in
            then(file.map { .shown($0, to: request) } ?? .refusal(.nothingHere))
        }
    }
}
