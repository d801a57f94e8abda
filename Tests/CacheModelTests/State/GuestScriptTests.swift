import CacheSamples
import CacheValues
import Testing

@testable import CacheFetching
@testable import CacheModel

/// Downloads that only programs in sandboxes want reach public addresses alone.
@Suite("State: guests", .timeLimit(.minutes(5)))
struct GuestScriptTests {
    private let script = StateScript(retry: RetryPolicy())
    private static let refusal = FailedTransfer(failure: Failure(.addressRefused, "not public"))

    private func detaches(_ image: String, isGuest: Bool, _ priority: Priority) {
        let client = ClientID(rawValue: isGuest ? 1 : 2, isGuest: isGuest)
        _ = script.want(image, by: nil, FetchOptions(priority: priority, client: client))
    }

    private func isForGuests(_ image: String) -> Bool? {
        script.state.fetching.downloads[script.key(image)]?.isForGuests
    }

    @Test func aRefusedAddressIsRememberedForNobodyElse() {
        script.caller("guest", wants: "a", client: 1, isGuest: true)
        #expect(isForGuests("a") == true)
        #expect(script.fails("a", Self.refusal) == ["tell guest: a addressRefused"])
        #expect(script.lookup("a")?.failure == nil)
        script.caller("owner", wants: "a", client: 2)
        #expect(isForGuests("a") == false)
        #expect(script.fails("a", Self.refusal) == ["tell owner: a addressRefused"])
        #expect(script.lookup("a")?.failure?.kind == .addressRefused)
    }

    @Test func aDownloadThatTheOwnerJoinedBeginsAgain() {
        script.caller("guest", wants: "a", client: 1, isGuest: true)
        script.caller("owner", wants: "a", client: 2)
        #expect(isForGuests("a") == true)
        #expect(script.fails("a", Self.refusal) == ["start a"])
        #expect(isForGuests("a") == false)
        #expect(script.finishes("a") == ["publish a"])
        #expect(Set(script.published("a")) == ["tell guest", "tell owner"])
    }

    @Test func aGuestWhoJoinsTakesNothingAway() {
        script.caller("owner", wants: "a", client: 2)
        script.caller("guest", wants: "a", client: 1, isGuest: true)
        #expect(isForGuests("a") == false)
    }

    @Test(arguments: [true, false], [Priority.background, .visible])
    func aDetachedDownloadIsTheOwnersWhoeverCameFirst(isGuestFirst: Bool, priority: Priority) {
        detaches("a", isGuest: isGuestFirst, .normal)
        detaches("a", isGuest: !isGuestFirst, priority)
        let detached = script.state.fetching.downloads[script.key("a")]?.detached
        #expect(detached?.client.isGuest == false)
        #expect(detached?.priority == max(.normal, priority))
    }
}
