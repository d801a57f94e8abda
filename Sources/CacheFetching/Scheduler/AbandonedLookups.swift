import CacheValues

/// Name lookups that cancelled downloads have left behind.
///
/// Nothing can stop a lookup: it lasts until the name server answers, or for some seconds. A cancelled download frees
/// its slot at once, so that nobody waits for a name server that does not answer. The lookup counts for the user of
/// the download until it ends: otherwise callers that come and go could have ever more names looked up.
struct AbandonedLookups: Sendable {
    private var owners: [FlightID: UserID] = [:]
    private(set) var counts = Tally<UserID>()

    /// Whether a user may have another name looked up.
    ///
    /// A user has at most twice as many downloads and abandoned lookups as there are slots. If all users together have
    /// abandoned four times as many, each of them may have one.
    ///
    /// - Parameters:
    ///   - running: the running downloads of the user.
    ///   - slots: the number of downloads at once.
    func permitAnother(for user: UserID, running: Int, slots: Int) -> Bool {
        guard counts.total > 0 else { return true }
        let own = running + counts[user]
        return own == 0 || own < 2 * slots && counts.total < 4 * slots
    }

    mutating func add(_ id: FlightID, of user: UserID) {
        owners[id] = user
        counts.add(to: user)
    }

    mutating func ended(_ id: FlightID) {
        guard let user = owners.removeValue(forKey: id) else {
            preconditionFailure("the lookup of download \(id.rawValue) ended twice")
        }
        counts.remove(from: user)
    }
}
