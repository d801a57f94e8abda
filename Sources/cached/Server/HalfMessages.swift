/// The messages of which only a part has come, of all connections together.
///
/// They are kept until their ends come, so there is a limit to what they hold in all: past it, who has sent
/// nothing for longest has to go.
struct HalfMessages<Sender: AnyObject> {
    private struct Half {
        let sender: Sender
        let bytes: Int
        /// When something of it came last: the higher, the later.
        let turn: UInt64
    }

    private let limit: Int
    private var halves: [ObjectIdentifier: Half] = [:]
    private var turn: UInt64 = 0
    /// Of all.
    private(set) var bytes = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Notes how much there is of a sender's message, 0 for none. Returns who has to go for it; to be asked
    /// again once that is gone.
    mutating func note(_ count: Int, of sender: Sender) -> Sender? {
        let id = ObjectIdentifier(sender)
        let before = halves[id]?.bytes ?? 0
        if count != before {
            bytes += count - before
            turn += 1
            halves[id] = count > 0 ? Half(sender: sender, bytes: count, turn: turn) : nil
        }
        guard bytes > limit else { return nil }
        return halves.values.min { $0.turn < $1.turn }?.sender
    }
}
