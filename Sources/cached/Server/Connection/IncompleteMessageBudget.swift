/// Limits the memory that incomplete messages take on all connections together.
///
/// An incomplete message stays in memory until its end arrives. When all of them together exceed the limit,
/// the sender that has sent nothing for the longest time has to be disconnected.
struct IncompleteMessageBudget<Sender: AnyObject> {
    private struct IncompleteMessage {
        let sender: Sender
        let bytes: Int
        /// Grows with every part received: the smallest belongs to the sender that has been silent longest.
        let lastPart: UInt64
    }

    private let limit: Int
    private var messages: [ObjectIdentifier: IncompleteMessage] = [:]
    private var parts: UInt64 = 0
    /// The size of all incomplete messages together.
    private(set) var bytes = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Records the size of a sender's incomplete message; 0 means that it has none. Returns the sender to
    /// disconnect, if the limit is exceeded; the caller asks again afterwards.
    mutating func record(_ count: Int, of sender: Sender) -> Sender? {
        let id = ObjectIdentifier(sender)
        let before = messages[id]?.bytes ?? 0
        if count != before {
            bytes += count - before
            parts += 1
            messages[id] =
                count > 0 ? IncompleteMessage(sender: sender, bytes: count, lastPart: parts) : nil
        }
        guard bytes > limit else { return nil }
        return messages.values.min { $0.lastPart < $1.lastPart }?.sender
    }
}
