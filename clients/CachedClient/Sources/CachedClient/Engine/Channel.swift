internal import CClient
internal import ClientCore

/// The images that are wanted with the same options, on one stream of the daemon. The engine's lock guards it.
///
/// The channel gathers changes of the set for ``pause`` milliseconds, so that a list that scrolls sends one message
/// for all its cells.
final class Channel {
    /// A report that has to be made without the lock.
    struct Delivery {
        let holder: Holder
        let news: News
    }

    private struct Interest {
        let holder: Holder
        var priority: Priority
        /// Whether the holder still has to get the latest state.
        var isNew = true
    }

    /// It is a class, because a list that scrolls has the whole table read at each turn.
    private final class Image {
        /// The URL in the form that the session takes.
        let bytes: [UInt8]
        /// The latest report; `nil` before the first.
        var latest: News?
        var interests: [ObjectIdentifier: Interest] = [:]

        init(_ url: String) {
            bytes = Array(url.utf8)
        }

        var priority: Priority { interests.values.reduce(.background) { max($0, $1.priority) } }

        /// Reports the latest state to all holders, or to those that have not got it.
        func report(toAll: Bool, _ deliveries: inout [Delivery]) {
            guard let latest else { return }
            for (key, interest) in interests where toAll || interest.isNew {
                interests[key]?.isNew = false
                deliveries.append(Delivery(holder: interest.holder, news: latest))
            }
        }
    }

    let session: Session
    private let place: DaemonPlace
    private var images: [String: Image] = [:]
    /// Images of which some holders have not got the latest state.
    private var unheard: Set<String> = []
    /// Images that have lost a holder.
    private var left: Set<String> = []
    private var isChanged = false
    private var lastSent: Int64 = 0

    /// Milliseconds between two changes of the set.
    private static let pause: Int64 = 10

    init(
        _ place: DaemonPlace, _ options: StreamOptions, _ script: FakeScript?, patience: Int64
    ) {
        self.place = place
        session = script.map { Session($0) } ?? Session(place, options)
        session.patience = patience
    }

    // MARK: The set

    func add(_ url: String, _ holder: Holder, _ priority: Priority) {
        let image = images[url] ?? Image(url)
        images[url] = image
        image.interests[ObjectIdentifier(holder)] = Interest(holder: holder, priority: priority)
        unheard.insert(url)
        isChanged = true
    }

    func setPriority(_ priority: Priority, _ url: String, _ holder: Holder) {
        let before = images[url]?.interests[ObjectIdentifier(holder)]?.priority
        guard let before, before != priority else { return }
        images[url]?.interests[ObjectIdentifier(holder)]?.priority = priority
        isChanged = true
    }

    func remove(_ url: String, _ holder: Holder) {
        guard images[url]?.interests.removeValue(forKey: ObjectIdentifier(holder)) != nil else {
            return
        }
        left.insert(url)
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
        while let news = session.next({ News($0, $1, place) }) { take(news, &deliveries) }
        for url in unheard { images[url]?.report(toAll: false, &deliveries) }
        unheard.removeAll()
    }

    private func send() {
        for url in left where images[url]?.interests.isEmpty ?? false { images[url] = nil }
        left.removeAll()
        session.want(images.values.map { ($0.bytes, $0.priority.core) })
        isChanged = false
        lastSent = cclient_now()
    }

    private func take(_ news: News, _ deliveries: inout [Delivery]) {
        guard let image = images[news.url], image.latest != news else { return }
        image.latest = news
        image.report(toAll: true, &deliveries)
    }
}
