internal import ClientCore

/// Downloads images before a user sees them. The downloads end when the object is released.
public final class Prefetch: Sendable {
    private let urls: [String]
    private let engine: Engine
    private let holder = Holder { _ in }

    init(_ urls: [String], _ engine: Engine) {
        self.urls = urls
        self.engine = engine
        engine.replace([], by: urls, holder, .background, StreamOptions())
    }

    deinit {
        cancel()
    }

    /// Ends the downloads, unless others want the images.
    public func cancel() {
        engine.change(StreamOptions()) { channel in
            for url in urls { channel.remove(url, holder) }
        }
    }
}
