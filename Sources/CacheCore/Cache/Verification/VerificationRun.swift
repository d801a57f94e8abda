import CacheFetching

/// One reading of all entries, for all verifications that have waited for it. It ends early if all of them are cancelled.
final class VerificationRun: Sendable {
    /// Ends the wait for a repair.
    enum Event: Sendable {
        case decided(Outcome)
        case cancelled
    }

    private let members: [Verification]
    let events = Inbox<Event>()

    /// - Parameter members: verifications that all repair, or all do not.
    init(_ members: [Verification]) {
        self.members = members
        for member in members { member.join(self) }
    }

    var repairs: Bool { members[0].repairs }
    /// The client on whose behalf images are downloaded.
    var client: ClientID { members[0].client }
    var isCancelled: Bool { members.allSatisfy(\.isCancelled) }

    func progressed(_ report: VerificationReport) {
        for member in members { member.onProgress(member, report) }
    }

    func ended(_ report: VerificationReport) {
        for member in members {
            member.join(nil)
            member.onEnd(member, report)
        }
    }
}
