import CacheFetching

/// The turns of downloads on the transfer loop's thread. Belongs to that thread.
///
/// libcurl stays with one transfer for as long as its bytes arrive, which can be the whole image. So a download that has
/// taken its share of a round pauses, and continues in the next round. Between two rounds the thread takes commands, and
/// all other downloads have their turn.
final class TransferTurns {
    /// Bytes of a body that a download takes in a round: less than a millisecond of work for any bytes. Most images have
    /// fewer.
    private static let share = 64 << 10

    private var taken: [FlightID: Int] = [:]
    private var waiting: [FlightID] = []

    /// Whether no download waits for the next round.
    var isIdle: Bool { waiting.isEmpty }

    /// Whether a download may take a piece now. If not, it pauses until the next round.
    func admits(_ count: Int, of id: FlightID) -> Bool {
        let before = taken[id] ?? 0
        guard before < Self.share else {
            waiting.append(id)
            return false
        }
        taken[id] = before + count
        return true
    }

    /// A new round begins. Returns the downloads that continue.
    func nextRound() -> [FlightID] {
        taken.removeAll(keepingCapacity: true)
        defer { waiting.removeAll() }
        return waiting
    }
}
