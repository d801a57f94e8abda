internal import ClientCore

/// A cache for tests of applications: it needs no daemon, no directory and no network.
///
///     let cache = ImageCache(fake: [
///         "https://example.com/a.png": [
///             .inFlight(Progress(received: 10, total: 100)), .cached(ImageFile(url: url, path: path)),
///         ]
///     ])
extension ImageCache {
    /// Makes a cache that follows a script. While an image is wanted, its states are reported in order; `peek` tells the
    /// state that was reported last, or the first one if none was. An image without a script is missing.
    public convenience init(fake states: [String: [ImageState]]) {
        self.init(DaemonPlace(sockets: []), script: FakeScript())
        for (url, states) in states { for state in states { add(state, of: url) } }
    }

    /// Adds a state to the script of an image. Other caches ignore it.
    public func add(_ state: ImageState, of url: String) {
        let (event, texts) = state.event(url)
        engine.addState(event, texts, of: Array(url.utf8).withUnsafeBytes { ImageName(url: $0) })
    }
}

extension ImageState {
    /// The state as a session reports it.
    fileprivate func event(_ url: String) -> (Event, [UInt8]) {
        var (event, texts): (Event, [UInt8]) = (Event(), [])
        func append(_ text: String?) -> Int? {
            guard let text else { return nil }
            defer { texts += Array(text.utf8) + [0] }
            return texts.count
        }
        event.url = append(url)
        switch self {
        case .missing: event.state = .missing
        case .inFlight(let progress):
            event.state = .inFlight
            (event.received, event.total) = (progress.received, progress.total ?? -1)
            event.width = Int32(clamping: progress.width ?? 0)
            event.height = Int32(clamping: progress.height ?? 0)
        case .cached(let file):
            event.state = .cached
            (event.received, event.total) = (file.size, file.size)
            (event.path, event.mediaType) = (append(file.path), append(file.mediaType))
            event.width = Int32(clamping: file.width ?? 0)
            event.height = Int32(clamping: file.height ?? 0)
        case .failed(let failure):
            event.state = .failed
            (event.kind, event.message) = (append("\(failure.kind)"), append(failure.message))
            event.httpStatus = Int32(clamping: failure.httpStatus ?? 0)
            event.retryAt = failure.retryAt ?? 0
        }
        return (event, texts)
    }
}
