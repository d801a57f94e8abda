import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Slots are shared between users, however many connections and priorities each of them uses.
@Suite("State: users", .timeLimit(.minutes(5)))
struct UserShareTests {
    private static let ada = UserID(rawValue: 1001)
    private static let bob = UserID(rawValue: 1002)

    /// Images of hosts of their own, by the letter that begins their names.
    private func names(_ letter: String, _ count: Int) -> [String] {
        (0..<count).map { "\(letter)\($0)" }
    }

    /// Ada has `count` downloads, each of a connection of its own.
    private func ada(
        has count: Int, _ priority: Priority = .visible, in script: StateScript
    ) {
        for (number, image) in names("a", count).enumerated() {
            script.caller(
                "ada", wants: image, priority: priority, client: UInt64(number), user: Self.ada)
        }
    }

    private func running(_ letter: String, in script: StateScript) -> Int {
        script.state.fetching.downloads.all.count {
            $0.value.phase.isRunning && $0.value.url.string.contains("/\(letter)")
        }
    }

    // MARK: Turns

    /// In any order of ends, each user soon has half of the slots and keeps them.
    @Test(arguments: [Priority.normal, .visible])
    func twoUsersHaveTheSameNumberOfSlots(greed: Priority) {
        let script = StateScript(transferLimit: 16)
        ada(has: 300, greed, in: script)
        let options = FetchOptions(client: ClientID(rawValue: 900, user: Self.bob))
        let bob = script.state.fetching.waiterBegan(options)
        for image in names("b", 200) { _ = script.want(image, by: bob, options) }
        _ = script.event { $0.fetching.waiterNamed(bob, &$1) }
        // The download that stopped for Bob's first one.
        for image in names("a", 300) where script.isStopping(image) { _ = script.stops(image) }
        var shares: [Int] = []
        for step in 0..<150 {
            let running = script.state.fetching.downloads.all.filter { $0.value.phase.isRunning }
                .sorted { $0.value.id.rawValue < $1.value.id.rawValue }
            let next = running[step % running.count].key
            _ = script.finishes(script.name(of: next), failing: .http(404))
            if step >= 16 { shares.append(self.running("b", in: script)) }
        }
        #expect(shares.allSatisfy { (7...9).contains($0) }, "\(shares)")
    }

    @Test func theConnectionsOfAUserTakeTurnsBeneathTheirUser() {
        let script = StateScript(transferLimit: 1)
        script.caller("first", wants: "x")
        script.caller("ada", wants: "a1", "a2", client: 1, user: Self.ada)
        script.caller("ada", wants: "a3", client: 2, user: Self.ada)
        script.caller("bob", wants: "b1", "b2", client: 3, user: Self.bob)
        var order: [String] = []
        var current = "x"
        while let next = script.finishes(current, failing: .http(404)).first,
            next.hasPrefix("start")
        {
            current = String(next.dropFirst("start ".count))
            order.append(current)
        }
        #expect(order == ["a1", "b1", "a3", "b2", "a2"])
    }

    /// The priority of one user's downloads does not delay another user's.
    @Test func prioritiesDecideWithinAUser() {
        let script = StateScript(transferLimit: 1)
        script.caller("first", wants: "x")
        script.caller("bob", wants: "b1", client: 3, user: Self.bob)
        script.caller("ada", wants: "a1", "a2", priority: .visible, client: 1, user: Self.ada)
        #expect(script.finishes("x", failing: .http(404)).first == "start b1")
        #expect(script.finishes("b1", failing: .http(404)).first == "start a1")
    }

    @Test func aPrefetchWaitsForTheDownloadsOfAllUsers() {
        let script = StateScript(transferLimit: 1)
        script.caller("first", wants: "x")
        script.caller("bob", wants: "b1", priority: .background, client: 3, user: Self.bob)
        script.caller("ada", wants: "a1", "a2", client: 1, user: Self.ada)
        #expect(script.finishes("x", failing: .http(404)).first == "start a1")
        #expect(script.finishes("a1", failing: .http(404)).first == "start a2")
        #expect(script.finishes("a2", failing: .http(404)).first == "start b1")
    }

    // MARK: A user who has nothing

    @Test func aUserWithNothingRunningGetsASlotAtOnce() {
        let script = StateScript(transferLimit: 8)
        ada(has: 20, in: script)
        #expect(running("a", in: script) == 8)
        script.caller("bob", wants: "b1", "b2", client: 99, user: Self.bob) { said in
            #expect(said.count { $0.hasPrefix("cancel a") } == 1, "\(said)")
        }
        let stopped = names("a", 8).filter { script.isStopping($0) }
        #expect(stopped.count == 1)
        #expect(stopped.flatMap { script.stops($0) } == ["start b1"])
        // One slot is enough to begin with.
        #expect(script.passes(.seconds(1)) == [])
        // The stopped download continues with the next slot of its user.
        #expect(script.finishes("b1", failing: .http(404)).first == "start b2")
    }

    @Test func aUserWithNothingRunningGetsASlotOfAFullHost() throws {
        var state = CacheState(FetchingState(transferLimit: 64, originLimit: 4))
        func want(_ path: String, client: UInt64, _ user: UserID) throws -> [Work] {
            let url = try CacheURL("http://host/\(path)")
            let options = FetchOptions(
                priority: .visible, client: ClientID(rawValue: client, user: user))
            let waiter = state.fetching.waiterBegan(options)
            return state.run {
                $0.fetching.requested(
                    CacheKey(url), url, by: waiter, options, now: FileTime(nanoseconds: 7), &$1)
                $0.fetching.waiterNamed(waiter, &$1)
            }.work
        }
        for number in 0..<9 { _ = try want("a\(number)", client: UInt64(number), Self.ada) }
        #expect(state.fetching.scheduler.running == 4)
        let work = try want("b", client: 99, Self.bob)
        guard case .cancelTransfer(let id, let key, _)? = work.first else {
            return #expect(Bool(false), "\(work)")
        }
        let next = state.run { $0.transferFailed(key, id, .removed, &$1) }.work
        guard case .startTransfer(_, _, let url, _)? = next.first else {
            return #expect(Bool(false), "\(next)")
        }
        #expect(url.string == "http://host/b")
    }

    @Test func aUserWithOneDownloadLosesItToNobody() {
        let script = StateScript(transferLimit: 1)
        script.caller("ada", wants: "a", client: 1, user: Self.ada)
        script.caller("bob", wants: "b", client: 2, user: Self.bob) { #expect($0 == []) }
        #expect(script.finishes("a", failing: .http(404)).first == "start b")
    }

    // MARK: Slots that are not earned

    @Test func aSlowDownloadYieldsWhileAnotherUserHasFewer() {
        let script = StateScript(transferLimit: 8)
        let options = FetchOptions(client: ClientID(rawValue: 1, user: Self.ada))
        let ada = script.state.fetching.waiterBegan(options)
        for image in names("a", 8) { _ = script.want(image, by: ada, options) }
        script.caller("bob", wants: "b1", "b2", "b3", "b4", "b5", client: 99, user: Self.bob)
        #expect(script.stops("a7") == ["start b1"])
        #expect(script.passes(.seconds(1)) == [])
        // Three are fast enough, four drip.
        for image in names("a", 3) {
            _ = script.progresses(image, received: 100_000, total: 10_000_000)
        }
        for image in ["a3", "a4", "a5", "a6", "b1"] {
            _ = script.progresses(image, received: 5600, total: 10_000_000)
        }
        // One after the other, until both have the same number.
        #expect(script.passes(.seconds(2)) == ["cancel a6"])
        #expect(script.stops("a6") == ["start b2", "cancel a5"])
        #expect(script.stops("a5") == ["start b3", "cancel a4"])
        #expect(script.stops("a4") == ["start b4"])
        #expect(script.passes(.seconds(9)) == [])
        // Its turn comes again when slots are free, and it continues its partial.
        #expect(script.finishes("a0", failing: .http(404)).first?.hasPrefix("start a") == true)
    }

    @Test func aDownloadThatHadItsTimeYields() {
        let script = StateScript(transferLimit: 4)
        ada(has: 4, in: script)
        script.caller("new", wants: "b1", client: 99, user: Self.ada)
        var yielded: [String] = []
        for time in stride(from: 0, through: 40, by: 2) where yielded.isEmpty {
            for image in names("a", 4) {
                _ = script.progresses(
                    image, received: Int64(time) * 1_000_000, total: 100_000_000)
            }
            yielded = script.passes(.seconds(time)).filter { $0.hasPrefix("cancel") }
            #expect(yielded.isEmpty == (time < 30))
        }
        #expect(yielded == ["cancel a3"])
        #expect(script.stops("a3") == ["start b1"])
    }

    @Test func nothingYieldsToTheSameConnection() {
        let script = StateScript(transferLimit: 4)
        script.caller("ada", wants: "a1", "a2", "a3", "a4", "a5", client: 1, user: Self.ada)
        for time in stride(from: 2, through: 100, by: 2) {
            #expect(script.passes(.seconds(time)).filter { $0.hasPrefix("cancel") } == [])
        }
    }

    /// Every connection has a download that drips, and more that wait.
    @Test func aSlowDownloadYieldsToAConnectionOfTheSameUserThatHasNothing() {
        let script = StateScript(transferLimit: 4)
        for letter in ["a", "x", "y"] {
            for number in 0..<4 as Range<UInt64> {
                script.caller(
                    "many", wants: "\(letter)\(number)", client: number, user: Self.ada)
            }
        }
        for time in [0, 1] { #expect(script.passes(.seconds(time)) == []) }
        script.caller("new", wants: "b1", "b2", client: 9, user: Self.ada) {
            #expect($0 == ["cancel a3"])
        }
        #expect(script.stops("a3") == ["start b1"])
        // The connection that gave way takes no slot from others, and waits behind the new one.
        for time in [2, 3, 4] { #expect(script.passes(.seconds(time)) == []) }
        #expect(script.finishes("b1", failing: .http(404)).first == "start b2")
        #expect(script.finishes("b2", failing: .http(404)).first == "start x3")
    }

    /// Many connections ask a server that needs two seconds for each image: each download is given the time at last.
    @Test func slowDownloadsOfManyConnectionsEnd() {
        let script = StateScript(transferLimit: 2)
        for number in 0..<40 as Range<UInt64> {
            script.caller("many", wants: "a\(number)", client: number, user: Self.ada)
        }
        var began: [String: Int] = [:]
        var ended: Set<String> = []
        for step in 0..<1200 {
            for image in names("a", 40) where script.phase(image)?.isRunning == true {
                let start = began[image] ?? step
                began[image] = start
                guard step - start >= 8 else { continue }
                (began[image], _) = (nil, ended.insert(image))
                _ = script.finishes(image, failing: .http(404))
            }
            for word in script.passes(.milliseconds(250 * step)) where word.hasPrefix("cancel ") {
                stop(String(word.dropFirst("cancel ".count)), in: script, &began)
            }
        }
        #expect(ended.count == 40)
    }

    /// A download stops, and so does each that gives way at that moment.
    private func stop(_ image: String, in script: StateScript, _ began: inout [String: Int]) {
        began[image] = nil
        for word in script.stops(image) where word.hasPrefix("cancel ") {
            stop(String(word.dropFirst("cancel ".count)), in: script, &began)
        }
    }

    /// Those that gave way do not wait for ever.
    @Test func aConnectionThatGaveWayTakesASlotAgainLater() {
        let script = StateScript(transferLimit: 1)
        script.caller("a", wants: "a", client: 1, user: Self.ada)
        script.caller("b", wants: "b", client: 2, user: Self.ada)
        var words: [String] = []
        for time in 0...130 {
            let said = script.passes(.seconds(time))
            for word in said where word.hasPrefix("cancel") {
                words.append("\(time) \(word)")
                _ = script.stops(String(word.dropFirst("cancel ".count)))
            }
        }
        #expect(words == ["1 cancel a", "61 cancel b", "121 cancel a"])
    }

    @Test func aSlowDownloadKeepsItsSlotWhileNobodyWaits() {
        let script = StateScript(transferLimit: 4)
        script.caller("ada", wants: "a1", "a2", "a3", client: 1, user: Self.ada)
        for time in stride(from: 2, through: 200, by: 2) {
            #expect(script.passes(.seconds(time)) == [])
        }
    }

    // MARK: Origins

    @Test(arguments: [
        "http://A.Example/x", "HTTP://a.example:80/", "http://a.example./?q",
        "http://a.example.:80/",
    ])
    func spellingsOfAnOriginAreOneOrigin(text: String) throws {
        #expect(Origin(try CacheURL(text)) == Origin(try CacheURL("http://a.example/")))
    }

    @Test(arguments: [
        "http://a.example:8080/", "https://a.example/", "http://b.example/",
        "http://a.example:443/",
    ])
    func anotherServerIsAnotherOrigin(text: String) throws {
        #expect(Origin(try CacheURL(text)) != Origin(try CacheURL("http://a.example/")))
    }

    // MARK: Quotas

    @Test func detachedDownloadsCountForTheirUser() {
        let script = StateScript(transferLimit: 1, detachedLimit: 3)
        let ada = ClientID(rawValue: 1, user: Self.ada)
        let bob = ClientID(rawValue: 2, user: Self.bob)
        #expect(script.announces(3, for: ada))
        #expect(!script.announces(1, for: ClientID(rawValue: 3, user: Self.ada)))
        #expect(script.announces(3, for: bob))
    }

    @Test func downloadsOfAClientThatLeftEndWhenTheirUserNeedsTheQuota() {
        let script = StateScript(transferLimit: 1, detachedLimit: 3)
        let gone = ClientID(rawValue: 1, user: Self.ada)
        let here = ClientID(rawValue: 2, user: Self.ada)
        for image in ["a1", "a2", "a3"] {
            _ = script.want(image, by: nil, FetchOptions(client: gone))
        }
        #expect(!script.announces(2, for: here))
        #expect(script.ends(of: Self.ada) == false)
        script.state.fetching.clientLeft(gone, now: Sample.moment.instant)
        #expect(script.ends(of: Self.bob) == false)
        #expect(script.ends(of: Self.ada))
        #expect(script.announces(2, for: here))
        // The download that runs is not disturbed.
        #expect(script.phase("a1")?.isRunning == true)
        #expect(script.phase("a2") == nil && script.phase("a3") == nil)
    }

    @Test func downloadsOfAClientThatLeftEndAfterAnHour() {
        let script = StateScript(transferLimit: 1)
        let gone = ClientID(rawValue: 1, user: Self.ada)
        for image in ["a1", "a2"] { _ = script.want(image, by: nil, FetchOptions(client: gone)) }
        let start = Sample.moment.instant
        script.state.fetching.clientLeft(gone, now: start)
        for (time, ends) in [(3599, false), (3600, true), (3601, false)] {
            _ = script.event {
                #expect($0.fetching.departedEnded(now: start + .seconds(time), &$1) == ends)
            }
        }
        #expect(script.phase("a1")?.isRunning == true && script.phase("a2") == nil)
    }
}

extension StateScript {
    fileprivate func ends(of user: UserID) -> Bool {
        var hasEnded = false
        _ = event { hasEnded = $0.fetching.departedEnded(of: user, &$1) }
        return hasEnded
    }
}
