internal import ClientCore

/// Images that are on their way before a user sees them. Given up when the object goes.
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

    /// Gives the images up. Their downloads end, unless others want them.
    public func cancel() {
        engine.change(StreamOptions()) { channel in
            for url in urls { channel.remove(url, holder) }
        }
    }
}
