import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Inbox", .timeLimit(.minutes(5))) struct InboxTests {
    private let inbox = Inbox<Int>()

    @Test func aWaitForMoreEndsAtItsTime() {
        inbox.put(1, isUrgent: false)
        inbox.put(2, isUrgent: false)
        let time = ContinuousClock.now + .milliseconds(20)
        #expect(inbox.takeAll(by: time) == [1, 2])
        #expect(ContinuousClock.now >= time)
    }

    /// The element comes before or during a wait.
    @Test(arguments: [false, true])
    func anUrgentElementEndsAWaitForMore(isThere: Bool) {
        inbox.put(1, isUrgent: false)
        let putting = NamedThread("putting") { [inbox] in
            inbox.put(2)
            inbox.put(3, isUrgent: false)
        }
        if isThere { putting.join() }
        let taken = inbox.takeAll(by: .now + .seconds(600))
        #expect(taken.prefix(2) == [1, 2])
        if !isThere { putting.join() }
        // The urgent one is taken: the next is waited for again.
        if isThere { #expect(inbox.takeAll(by: .now) == []) }
    }

    /// The elements come before or during a wait.
    @Test(arguments: [false, true])
    func enoughElementsEndAWaitForMore(areThere: Bool) {
        let putting = NamedThread("putting") { [inbox] in
            for element in 1...3 { inbox.put(element, isUrgent: false) }
        }
        if areThere { putting.join() }
        #expect(inbox.takeAll(by: .now + .seconds(600), enough: 3) == [1, 2, 3])
        if !areThere { putting.join() }
        // A thread that waits for any element is woken by the first one again.
        inbox.put(4, isUrgent: false)
        #expect(inbox.takeAll() == [4])
    }

    @Test func closingEndsAWait() {
        inbox.put(1, isUrgent: false)
        inbox.close()
        #expect(inbox.takeAll(by: .now + .seconds(600)) == [1])
        #expect(inbox.takeAll() == nil)
    }
}
