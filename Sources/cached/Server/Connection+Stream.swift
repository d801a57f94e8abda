import CacheCore
import CacheKey
import CacheWire
import NIOCore
import NIOPosix

/// Streams: `Fetch` with `more`, and `Watch`. A reply is made when the one before it is taken, of what has
/// changed until then; so who reads slowly hears less often, holds up nobody and costs no memory.
extension Connection {
    // MARK: Beginning and end

    /// Is told about this from now on, in the place of what it was told about before. The new subscription
    /// begins before the old one ends, so that of what is in both no change is missed.
    func subscribe(to subject: Subscription.Subject) {
        var new = desk.hub.subscribe(self, to: subject)
        if let old = subscription { new.succeed(old) }
        replaceSubscription(by: new)
    }

    /// Nothing more is told.
    func unsubscribe() {
        replaceSubscription(by: nil)
    }

    private func replaceSubscription(by new: Subscription?) {
        let replaced = subscription
        subscription = new
        isTelling = false
        guard let old = replaced else { return }
        desk.hub.unsubscribe(old)
        // Where it was the last to know very many URLs, they are freed there.
        if old.isLong { desk.pool.submit { _ in withExtendedLifetime(old) {} } }
    }

    /// Ends the running stream, if there is one, with its last reply. Where another takes over, that one has
    /// subscribed already.
    func endStream(for successor: SubscriptionID? = nil) {
        guard running?.isStream == true else { return }
        writeLastReply()
        endCall(for: successor)
    }

    /// The last reply to the running stream: of a fetch, all items; of a watch, nothing new; of a
    /// verification, how far it came.
    func writeLastReply() {
        switch running {
        case .fetch(let call) where call.isStream:
            desk.write(call.targets, digest: call.digest, to: &output)
        case .watch: desk.replies.write([], continues: false, to: &output)
        case .verify(let call) where call.isStream && !call.isSilent:
            desk.write(call.report, to: &output)
        default: break
        }
    }

    /// Nobody waits for the running call any more.
    func endCall(for successor: SubscriptionID? = nil) {
        if subscription?.id != successor { unsubscribe() }
        switch running {
        case .fetch(let call):
            desk.hub.stopWaiting(for: call.interest)
            leave(call)
        case .verify(let call): call.verification.cancel()
        case .watch: break
        case .work, nil: return
        }
        running = nil
    }

    // MARK: What changes

    /// Some of what this connection named has changed.
    func hear(_ changes: [Change], _ id: SubscriptionID) {
        guard subscription?.id == id else { return }
        guard mayTell, subscription.map(desk.hub.isUpToDate) == true else {
            subscription?.missed(changes.map(\.key))
            return
        }
        tell(reply(of: changes))
    }

    /// What is told to all who watch everything, and the places in the log it leads from and to.
    func hear(
        _ changes: [Change], _ reply: ByteBuffer, from start: ChangeLog.Cursor,
        to end: ChangeLog.Cursor,
        _ id: SubscriptionID
    ) {
        guard subscription?.id == id, mayTell, subscription?.isUpToDate(at: start) == true else {
            return
        }
        subscription?.told(upTo: end)
        guard case .downloads? = subscription?.subject else { return tell(reply) }
        let news = subscription?.news(in: changes) ?? []
        if !news.isEmpty { tell(self.reply(of: news)) }
    }

    /// Goes on with what was not told yet: first what changed, then the state at the beginning.
    func tellMore() {
        guard mayTell, var subscription else { return }
        // Held once only, it is changed in place.
        self.subscription = nil
        let untold = desk.hub.untold(&subscription)
        let news = untold.map { subscription.news(in: $0) }
        self.subscription = subscription
        guard let changes = untold, let news else { return fallBehind() }
        if !news.isEmpty {
            tell(reply(of: news))
        } else if !changes.isEmpty {
            // None of them is to be told here; others have their turn before the next.
            desk.hub.turns.add { self.tellMore() }
        } else if let pages = subscription.pages {
            tellPage(pages)
        }
    }

    /// Whether a reply may be made now.
    private var mayTell: Bool {
        guard let context, let subscription, running?.isStream == true else { return false }
        return context.channel.isWritable && !isTelling && !subscription.isPageUnderWay
    }

    private func reply(of changes: [Change]) -> ByteBuffer {
        var reply = ByteBuffer()
        switch running {
        case .watch: desk.replies.write(changes, continues: true, to: &reply)
        case .fetch(let call) where call.digest != nil:
            // What is the same for all others is not good enough here.
            guard case .named(let urls) = call.subject else { break }
            let targets = changes.compactMap { urls[$0.key].map { Target($0) } }
            desk.write(targets, of: call, to: &reply)
        default:
            desk.replies.writeItems(of: changes, continues: true, to: &reply) { change, output in
                output.writeImmutableBuffer(change.item)
            }
        }
        return reply
    }

    /// Sends a reply, and what there is to tell by then once it is taken.
    func tell(_ reply: ByteBuffer) {
        guard let context, let id = subscription?.id else { return }
        flush()
        isTelling = true
        context.writeAndFlush(wrapOutboundOut(reply)).assumeIsolated().whenSuccess { [self] in
            guard subscription?.id == id else { return }
            isTelling = false
            guard let subscription, subscription.pages != nil || !desk.hub.isUpToDate(subscription)
            else { return }
            // In a turn of its own: others have theirs.
            desk.hub.turns.add { self.tellMore() }
        }
    }

    /// So much has changed since the client read last that nobody remembers all of it: the stream ends.
    private func fallBehind() {
        endStream()
        process()
        flush()
    }
}
