import CacheWire
import TestSupport

/// Clients that use a daemon until it ends: they download, revalidate, pin, remove and evict.
struct Traffic: Sendable {
    let origin: ImageOrigin
    let oracle: Oracle
    let socket: String

    /// Fetches images and informs the oracle; `false` if the daemon ended first.
    private func fetch(
        _ urls: [String], refresh: Bool = false, by client: CacheClient
    ) async throws -> Bool {
        try oracle.willFetch(urls)
        return try await client.stream(
            Methods.Fetch.self, .init(urls: urls, refresh: refresh)
        ) { reply, isLast in
            oracle.didReceive(reply.items, isFinal: isLast)
        }
    }

    /// Fetches one batch after the other.
    func fetch(
        _ batches: [[String]], refresh: Bool = false, in scope: TestScope
    ) async throws {
        let client = CacheClient(socket, in: scope)
        for batch in batches {
            guard try await fetch(batch, refresh: refresh, by: client) else { return }
        }
    }

    /// Removes, evicts, pins and refreshes images at random.
    func interfere(_ seed: UInt64, in scope: TestScope) async throws {
        var random = SeededGenerator(seed: seed)
        let client = CacheClient(socket, in: scope)
        var continues = true
        while continues {
            continues =
                switch Int.random(in: 0..<10, using: &random) {
                case 0: try await evict(to: .random(in: 0..<500_000, using: &random), client)
                case 1...2: try await remove(&random, client)
                case 3...5: try await pin(&random, client)
                default: try await confirm(&random, client)
                }
        }
    }

    private func evict(to bytes: Int, _ client: CacheClient) async throws -> Bool {
        oracle.willEvict()
        let reply = try await client.call(Methods.Evict.self, .init(toBytes: bytes))
        if reply != nil { oracle.didEvict() }
        return reply != nil
    }

    private func remove(
        _ random: inout SeededGenerator, _ client: CacheClient
    ) async throws -> Bool {
        // A fetch that has not arrived yet could be processed after the removal.
        let known = oracle.images.values.filter { $0.isAccepted || !$0.isPending }.map(\.url)
        let urls = Self.some(of: known, &random)
        try oracle.willRemove(urls)
        let reply = try await client.call(Methods.Remove.self, .init(urls: urls))
        if reply != nil { try oracle.didRemove(urls) }
        return reply != nil
    }

    private func pin(_ random: inout SeededGenerator, _ client: CacheClient) async throws -> Bool {
        let images = oracle.images.values
        let urls = Self.some(of: images.filter(\.isAccepted).map(\.url), &random)
        // Pinned images are never evicted, so their number is kept small.
        let isTooMuch = images.count(where: \.isPinned) > 100
        guard !isTooMuch else { return try await remove(&random, client) }
        let reply = try await client.call(Methods.Pin.self, .init(urls: urls, pinned: true))
        if let reply { oracle.didPin(reply.items) }
        return reply != nil
    }

    private func confirm(
        _ random: inout SeededGenerator, _ client: CacheClient
    ) async throws -> Bool {
        let owed = oracle.images.values.filter { $0.mustExist && !$0.isPending }.map(\.url)
        return try await fetch(Self.some(of: owed, &random), refresh: true, by: client)
    }

    private static func some(of urls: [String], _ random: inout SeededGenerator) -> [String] {
        Array(urls.sorted().shuffled(using: &random).prefix(.random(in: 1...8, using: &random)))
    }
}
