internal import ClientCore

/// A report of the daemon about one image.
struct News: Sendable, Hashable {
    /// The URL is empty if it is not known.
    let url: String
    let key: String
    let state: ImageState
    /// Whether a cached image is being refreshed, so that another state follows.
    let isRefreshed: Bool

    /// A failure that did not come from the daemon.
    init(failed url: String, _ failure: CacheFailure) {
        (self.url, key, state, isRefreshed) = (url, "", .failed(failure), false)
    }

    init(_ event: Event, _ texts: UnsafeBufferPointer<UInt8>, _ place: DaemonPlace) {
        func text(_ start: Int?) -> String? {
            guard let start, let end = texts[start...].firstIndex(of: 0) else { return nil }
            return String(decoding: texts[start..<end], as: UTF8.self)
        }
        url = text(event.url) ?? ""
        key = text(event.key) ?? ""
        isRefreshed = event.state == .cached && event.phase != nil
        let pixels = { (number: Int32) in number > 0 ? Int(number) : nil }
        switch event.state {
        case .missing: state = .missing
        case .inFlight:
            state = .inFlight(
                Progress(
                    received: event.received, total: event.total < 0 ? nil : event.total,
                    phase: event.phase.map(Progress.Phase.init) ?? .receiving,
                    width: pixels(event.width), height: pixels(event.height)))
        case .cached:
            state = .cached(
                ImageFile(
                    url: url, path: text(event.path) ?? "", size: event.total,
                    mediaType: text(event.mediaType), width: pixels(event.width),
                    height: pixels(event.height), place: place))
        case .failed:
            state = .failed(
                CacheFailure(
                    CacheFailure.Kind(word: text(event.kind) ?? ""), text(event.message) ?? "",
                    httpStatus: event.httpStatus > 0 ? Int(event.httpStatus) : nil,
                    retryAt: event.retryAt > 0 ? event.retryAt : nil))
        }
    }
}

extension Progress.Phase {
    fileprivate init(_ phase: Event.Phase) {
        self =
            switch phase {
            case .queued: .queued
            case .connecting: .connecting
            case .receiving: .receiving
            case .retrying: .retrying
            case .deriving: .deriving
            case .publishing: .publishing
            }
    }
}
