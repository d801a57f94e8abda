import CLinux
import ClientCore
import Glibc
import NIOCore
import NIOHTTP1

/// The images of the cache directory, opened as any application opens them. Used on the event loop only.
final class ImageFolder {
    private var folder = Folder([])

    /// The path of the cache directory; `nil` while it is not known.
    var directory: String? {
        didSet {
            guard directory != oldValue else { return }
            folder = Folder(Array((directory ?? "").utf8))
        }
    }

    /// Opens the file of a cached image; `nil` if it is not there, or may not be read.
    func open(_ name: ImageName) -> ImageFile? {
        guard directory != nil, let image = try? folder.look(name), image.state == .cached else {
            return nil
        }
        return ImageFile(path: folder.lastPath, image)
    }

    /// The descriptor of an image; `nil` if it is not there.
    func openPlain(_ name: ImageName) -> Int32? {
        guard directory != nil, let file = try? folder.open(name), file >= 0 else { return nil }
        return file
    }

    func isThere(_ name: ImageName) -> Bool {
        guard directory != nil, let image = try? folder.look(name) else { return false }
        return image.state == .cached
    }

    /// The image with a key, as the page shows it.
    func response(to request: Request, key: Substring) throws(Refusal) -> Response {
        var key = key
        let name = key.withUTF8 { ImageName(text: UnsafeRawBufferPointer($0)) }
        guard let name, let file = open(name) else { throw .nothingHere }
        var response = file.response(to: request.head)
        // The browser keeps it, and asks each time whether it is still the same.
        response.headers.add(name: "Cache-Control", value: "private, no-cache")
        return response
    }
}
