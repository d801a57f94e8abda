internal import CClient
internal import ClientCore

/// The images that are wanted with the same options, on one stream of the daemon. Guarded by the engine's lock.
///
/// Changes of the set are gathered for one turn of ``pause`` milliseconds, so that a list that scrolls sends one
/// message for all its cells.
final class Channel {
    /// A report that has to be made without the lock.
    struct Delivery {
        let holder: Holder
        let news: News
    }

    private struct Wish {
        let holder: Holder
        var priority: Priority
        /// Whether it has not heard the latest state yet.
        var isNew = true
    }

    private struct Image {
        /// `nil` before the first.
        var latest: News?
        var wishes: [ObjectIdentifier: Wish] = [:]

        var priority: Priority { wishes.values.reduce(.background) { max($0, $1.priority) } }
    }

    let session: Session
    private let sockets: Sockets
    private var images: [String: Image] = [:]
    /// Images that have holders who have not heard the latest state.
    private var unheard: Set<String> = []
    private var isChanged = false
    private var lastSent: Int64 = 0

    /// Milliseconds between two changes of the set.
    private static let pause: Int64 = 10

    init(_ sockets: Sockets, _ options: FetchOptions, patience: Int64) {
        self.sockets = sockets
        session = Session(sockets: sockets.paths, options)
        session.patience = patience
    }

    // MARK: The set

    func add(_ url: String, _ holder: Holder, _ priority: Priority) {
        images[url, default: Image()].wishes[ObjectIdentifier(holder)] = Wish(
            holder: holder, priority: priority)
        unheard.insert(url)
        isChanged = true
    }

    func setPriority(_ priority: Priority, _ url: String, _ holder: Holder) {
        let before = images[url]?.wishes[ObjectIdentifier(holder)]?.priority
        guard let before, before != priority else { return }
        images[url]?.wishes[ObjectIdentifier(holder)]?.priority = priority
        isChanged = true
    }

    func remove(_ url: String, _ holder: Holder) {
        guard images[url]?.wishes.removeValue(forKey: ObjectIdentifier(holder)) != nil else {
            return
        }
        isChanged = true
    }

    // MARK: Turns

    /// Whether nothing is wanted any more.
    var isIdle: Bool { !isChanged && images.isEmpty }

    /// Milliseconds until the set may be sent; `nil` if it has not changed.
    var timeToSend: Int64? {
        isChanged ? max(lastSent + Self.pause - cclient_now(), 0) : nil
    }

    /// Sends the set if it is time, and takes what has arrived.
    func turn(_ deliveries: inout [Delivery]) {
        if timeToSend == 0 { send() }
        while let news = session.next({ News($0, $1, sockets) }) { take(news, &deliveries) }
        for url in unheard {
            guard let latest = images[url]?.latest else { continue }
            for (key, wish) in images[url]?.wishes ?? [:] where wish.isNew {
                images[url]?.wishes[key]?.isNew = false
                deliveries.append(Delivery(holder: wish.holder, news: latest))
            }
        }
        unheard.removeAll()
    }

    private func send() {
        for (url, image) in images where image.wishes.isEmpty { images[url] = nil }
        session.want(images.map { url, image in (Array(url.utf8), image.priority.core) })
        isChanged = false
        lastSent = cclient_now()
    }

    private func take(_ news: News, _ deliveries: inout [Delivery]) {
        guard let image = images[news.url], image.latest != news else { return }
        images[news.url]?.latest = news
        for (key, wish) in image.wishes {
            images[news.url]?.wishes[key]?.isNew = false
            deliveries.append(Delivery(holder: wish.holder, news: news))
        }
    }
}
