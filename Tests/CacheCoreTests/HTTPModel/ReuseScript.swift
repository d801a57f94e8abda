import CacheValues
import Glibc
import TestSupport

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Random operations on a cache, its origin and a model of both. The cache and the model are compared after each
/// operation.
final class ReuseScript {
    private let origin: ChangingOrigin
    private let directory: String
    private var model = ReuseModel()
    private var random: SeededGenerator
    private(set) var operations = 0
    /// The operations so far, for the message of a failure.
    private var trace: [String] = []

    init(seed: UInt64, in scope: TestScope) throws {
        random = SeededGenerator(seed: seed)
        origin = try ChangingOrigin(in: scope)
        directory = try TemporaryDirectory(in: scope).file("cache")
    }

    /// Performs `count` operations. The cache is restarted after every few of them.
    func run(operations count: Int) async throws {
        do {
            while operations < count {
                did("start")
                model.restarted()
                try await withTestScope { scope in
                    let fixture = try CacheFixture(
                        in: scope, directory: directory, origin: origin.server)
                    try await waitUntil("the directory to be read") {
                        fixture.cache.statistics().isWhole
                    }
                    for page in origin.all { try check(fixture, page) }
                    for _ in 0..<Int.random(in: 10...60, using: &random) {
                        try await perform(fixture)
                        operations += 1
                    }
                }
            }
        } catch {
            throw TestFailure("\(error), after \(trace.suffix(12).joined(separator: ", "))")
        }
    }

    private func did(_ what: String, _ page: ChangingPage? = nil) {
        trace.append(page.map { "\(what) \($0.number)" } ?? what)
    }

    // MARK: Operations

    private func perform(_ fixture: CacheFixture) async throws {
        guard let page = origin.all.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: try await fetch(fixture, page)
        case 30..<40: try await fetch(fixture, page, isRefresh: true)
        case 40..<48: try await fetchTogether(fixture, page)
        case 48..<54: try await leave(fixture, page)
        case 54..<84: change(page)
        case 84..<88: try await remove(fixture, page)
        case 88..<94: try await pin(fixture, page)
        case 94..<98: try damage(fixture, page)
        default: try await evict(fixture)
        }
        for page in origin.all { try check(fixture, page) }
    }

    /// Changes a random property of the page at the origin.
    private func change(_ page: ChangingPage) {
        var changed = page
        switch Int.random(in: 0..<5, using: &random) {
        case 0: changed.version += 1
        case 1: changed.control = .allCases.randomElement(using: &random) ?? .fresh
        case 2: changed.health = .well
        case 3: changed.health = .allCases.randomElement(using: &random) ?? .well
        default: changed.isChunked.toggle()
        }
        did("\(changed.version) \(changed.control) \(changed.health) at", page)
        origin.change(changed)
    }

    private func fetch(
        _ fixture: CacheFixture, _ page: ChangingPage, isRefresh: Bool = false
    ) async throws {
        did(isRefresh ? "refresh" : "fetch", page)
        let before = origin.requests(page)
        let expected = model.fetched(page, isRefresh: isRefresh)
        let outcome = try await fixture.fetch(
            page.path, options: FetchOptions(isRefresh: isRefresh))
        try await settle(fixture, page)
        let requests = origin.requests(page) - before
        guard outcome.failures.isEmpty != expected.isFailure, expected.requests ~= requests else {
            throw TestFailure(
                "\(outcome.failures.values) after \(requests) requests, not \(expected)")
        }
    }

    /// Two callers fetch the page at once, one of them with a refresh. They share one request.
    private func fetchTogether(_ fixture: CacheFixture, _ page: ChangingPage) async throws {
        did("fetch and refresh", page)
        let isFirst = random.oneIn(2)
        guard model.mustAsk(page, isRefresh: false) else {
            return try await fetch(fixture, page, isRefresh: true)
        }
        let before = origin.requests(page)
        let imageRequest = try fixture.imageRequest(page.path)
        let waiters = try await origin.holding(page) { gate in
            let first = fixture.cache.fetch([imageRequest], FetchOptions(isRefresh: isFirst))
            try await gate.reached()
            return [first, fixture.cache.fetch([imageRequest], FetchOptions(isRefresh: !isFirst))]
        }
        let outcomes = [
            try await fixture.outcome(of: waiters[0]),
            try await fixture.outcome(of: waiters[1]),
        ]
        try await settle(fixture, page)
        var other = model
        let failures = [
            other.asked(page, isRefresh: isFirst), model.asked(page, isRefresh: !isFirst),
        ]
        let requests = origin.requests(page) - before
        guard outcomes.map({ !$0.failures.isEmpty }) == failures,
            ReuseModel.requests(to: page) ~= requests
        else {
            throw TestFailure("\(outcomes), \(requests) requests, not failures: \(failures)")
        }
    }

    /// The only caller leaves before the origin responds.
    private func leave(_ fixture: CacheFixture, _ page: ChangingPage) async throws {
        guard model.mustAsk(page, isRefresh: false) else { return }
        did("leave", page)
        try await origin.holding(page) { gate in
            let waiter = fixture.cache.fetch([try fixture.imageRequest(page.path)], FetchOptions())
            try await gate.reached()
            fixture.cache.leave(waiter)
            try await settle(fixture, page)
        }
    }

    private func remove(_ fixture: CacheFixture, _ page: ChangingPage) async throws {
        did("remove", page)
        model.held[page.number] = nil
        model.damagedPins.remove(page.number)
        model.uncertainPins.remove(page.number)
        _ = try await fixture.remove(page.path)
    }

    private func pin(_ fixture: CacheFixture, _ page: ChangingPage) async throws {
        let isPinned = random.oneIn(2)
        did(isPinned ? "pin" : "unpin", page)
        let key = try fixture.imageRequest(page.path).key
        let failures = await withCheckedContinuation { done in
            fixture.cache.pin([key], isPinned) { done.resume(returning: $0) }
        }
        guard failures.isEmpty == (model.held[page.number] != nil || !isPinned) else {
            throw TestFailure("pins: \(failures)")
        }
        model.held[page.number]?.isPinned = isPinned
        model.uncertainPins.remove(page.number)
        if !isPinned { model.damagedPins.remove(page.number) }
    }

    /// Another program deletes or damages the file.
    private func damage(_ fixture: CacheFixture, _ page: ChangingPage) throws {
        guard let held = model.held[page.number] else { return }
        did("damage", page)
        let file = try fixture.file(page.path)
        let count = page.body(held.version).count
        let isRemoved = random.oneIn(2)
        if held.isPinned, !isRemoved { model.damagedPins.insert(page.number) }
        let result = isRemoved ? unlink(file) : truncate(file, count + (random.oneIn(2) ? 1 : -1))
        guard result == 0 else { throw TestFailure("\(file) cannot be damaged") }
        model.held[page.number] = nil
    }

    private func evict(_ fixture: CacheFixture) async throws {
        did("evict")
        model.held = model.held.filter(\.value.isPinned)
        await withCheckedContinuation { done in
            fixture.cache.evict(toBytes: 0) { _, _ in done.resume() }
        }
    }

    // MARK: Checks

    /// Waits until the page has no download.
    private func settle(_ fixture: CacheFixture, _ page: ChangingPage) async throws {
        try await fixture.lookup(page.path) { $0.phase == nil }
    }

    /// The cache has the page if the model does, with the same pin and with exactly that version in its file.
    private func check(_ fixture: CacheFixture, _ page: ChangingPage) throws {
        let lookup = try fixture.lookup(page.path)
        if case .cached(let facts, _, _) = lookup { model.saw(facts.isPinned, of: page.number) }
        let held = model.held[page.number]
        guard lookup.isCached == (held != nil) else {
            throw TestFailure("\(page.path): \(lookup), not \(String(describing: held))")
        }
        guard let held, case .cached(let facts, _, _) = lookup else { return }
        guard facts.isPinned == held.isPinned else {
            throw TestFailure("\(page.path) is pinned: \(facts.isPinned)")
        }
        guard try contents(of: fixture.file(page.path)) == page.body(held.version) else {
            throw TestFailure("\(page.path) is not version \(held.version)")
        }
    }
}
