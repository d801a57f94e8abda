import CacheCore
import CacheKey
import CacheWire
import NIOCore
import NIOPosix

/// `Watch`: the state at the beginning, then what changes.
extension Connection {
    func watch(
        _ header: CallHeader, _ parameters: Methods.Watch.Parameters
    ) throws(WireError) {
        guard !desk.hub.isDraining else { throw .shuttingDown }
        try Self.admit(parameters.urls ?? [])
        guard header.more == true, header.oneway != true else {
            endStream()
            return try answerOnce(header, parameters.urls)
        }
        guard parameters.downloads == true else {
            return watch(parameters.urls.map { $0.map { Target($0) } })
        }
        guard parameters.urls == nil else { throw .invalidParameter(parameter: "downloads") }
        watchDownloads()
    }

    /// Begins a stream; without targets, of everything.
    func watch(_ targets: [Target]?) {
        subscribe(to: targets.map { .named(Desk.urls(of: $0)) } ?? .everything)
        endStream(for: subscription?.id)
        subscription?.pages = targets.map { WatchPages($0) } ?? .everything
        running = .watch
        tellMore()
    }

    /// Begins a stream of downloads: each as it is asked for, as its turn comes, and as it ends.
    private func watchDownloads() {
        subscribe(to: .downloads)
        endStream(for: subscription?.id)
        // They may be very many.
        elsewhere { desk, _ in
            desk.cache.keysInFlight()
        } then: { connection, keys in
            connection.subscription?.begin(with: keys)
            connection.running = .watch
            connection.tellMore()
            connection.process()
            connection.flush()
        }
    }

    /// Without `more`: the state now, and no stream.
    private func answerOnce(_ header: CallHeader, _ urls: [String]?) throws(WireError) {
        guard let urls else { throw .expectedMore }
        work(header) { desk, done in
            var reply = ByteBuffer()
            desk.write(urls.map { Target($0) }, removed: [], tellsPin: true, to: &reply)
            done(reply)
        }
    }

    /// Tells the next page of the state at the beginning.
    func tellPage(_ pages: WatchPages) {
        guard let subscription, let loop = context?.eventLoop else { return }
        var pages = pages
        if pages.isShort {
            let page = pages.next(from: desk)
            return tell(page, then: pages)
        }
        self.subscription?.isPageUnderWay = true
        let connection = NIOLoopBound(self, eventLoop: loop)
        let id = subscription.id
        desk.pager.submit { [desk, pages] state in
            guard state == .active else { return }
            var rest = pages
            let page = rest.next(from: desk)
            loop.execute { [rest] in
                guard connection.value.subscription?.id == id else { return }
                connection.value.subscription?.isPageUnderWay = false
                // The last reply is there already where a long call is about to take over.
                guard connection.value.running?.isStream == true else { return }
                connection.value.tell(page, then: rest)
            }
        }
    }

    private func tell(_ page: ByteBuffer, then rest: WatchPages) {
        subscription?.pages = rest.isOver ? nil : rest
        tell(page)
    }
}
