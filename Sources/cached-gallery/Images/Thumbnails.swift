import CacheWire
import ClientCore
import Glibc
import NIOCore
import NIOHTTP1

/// Smaller pictures of cached images, for a grid of them. Used on the event loop only.
final class Thumbnails {
    private let daemon: DaemonClient
    private let images: ImageFolder

    init(_ daemon: DaemonClient, _ images: ImageFolder) {
        self.daemon = daemon
        self.images = images
    }

    /// The image of a `url` with at most `side` pixels. If it is not here, there is no content for a request for what is
    /// `ready`; for others the daemon derives it, as long as they wait. It is the original if that cannot be derived, or
    /// is stale: looking at an image asks no origin.
    func respond(
        to request: HTTPRequest, _ query: Query, _ then: @escaping (Response) -> Void
    ) throws(Refusal) {
        guard let url = query["url"], let side = query["side"].flatMap({ Int($0) }) else {
            throw .query
        }
        let variant = url + (url.utf8.contains(UInt8(ascii: "#")) ? "&" : "#") + "side=\(side)"
        let name = ImageName(of: variant)
        images.open(name) { [self] file in
            if let file { return then(.shown(file, to: request)) }
            guard query["ready"] == nil else { return then(.nothingReady) }
            images.open(ImageName(of: url)) { [self] original in
                guard let original else { return then(.refusal(.nothingHere)) }
                guard original.freshUntil > time(nil) else {
                    return then(.shown(original, to: request))
                }
                derive(variant, for: request.asker) { [self] in
                    images.open(name) { file in
                        if file != nil { original.close() }
                        then(.shown(file ?? original, to: request))
                    }
                }
            }
        }
    }

    /// Has an image derived. `then` is called at the end, whatever it is.
    private func derive(_ variant: String, for asker: Asker, _ then: @escaping () -> Void) {
        daemon.callAlone(Methods.Fetch.self, .init(urls: [variant]), for: asker) { _ in then() }
    }
}

extension Response {
    /// A browser does not log it as an error.
    static var nothingReady: Response {
        var response = Response(.noContent, type: "text/plain", .bytes(ByteBuffer()))
        response.headers.add(name: "Cache-Control", value: "no-store")
        return response
    }

    /// An image for the page. The browser keeps it, and asks each time whether it is still the same.
    static func shown(_ file: ServedFile, to request: HTTPRequest) -> Response {
        var response = file.response(to: request.head)
        response.headers.add(name: "Cache-Control", value: "private, no-cache")
        return response
    }
}
