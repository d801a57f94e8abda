import CacheFetching

/// The turns of downloads on the transfer loop's thread. Belongs to that thread.
///
/// libcurl stays with one transfer for as long as its bytes arrive, which can be the whole image. So a download whose time
/// in a round is over pauses, and continues in the next round. Between two rounds the thread takes commands, and all other
/// downloads have their turn.
final class TransferTurns {
    /// The time that all downloads together have in a round. Most images need less than their part of it.
    static let round = Duration.milliseconds(2)

    /// The time of one download in this round.
    private var share = round
    /// When the turns of this round end.
    private var ends: [FlightID: ContinuousClock.Instant] = [:]
    private var waiting: [FlightID] = []
    /// Downloads that continue when pieces are free again.
    private var awaitingPieces: [FlightID] = []

    /// Whether no download waits for the next round.
    var isIdle: Bool { waiting.isEmpty }

    /// Whether a download may take a piece of any length now. If not, it pauses until the next round.
    func admits(_ id: FlightID, now: ContinuousClock.Instant = .now) -> Bool {
        guard let end = ends[id] else {
            ends[id] = now + share
            return true
        }
        if now < end { return true }
        waiting.append(id)
        return false
    }

    /// Whether downloads wait for pieces.
    var areAwaitingPieces: Bool { !awaitingPieces.isEmpty }

    /// A download pauses until earlier pieces are written.
    func awaitPieces(_ id: FlightID) { awaitingPieces.append(id) }

    /// A new round begins. Returns the downloads that continue.
    func nextRound(hasPieces: Bool = true) -> [FlightID] {
        share = Self.round / max(1, ends.count)
        ends.removeAll(keepingCapacity: true)
        var next = waiting
        waiting = []
        if hasPieces {
            next += awaitingPieces
            awaitingPieces = []
        }
        return next
    }
}
