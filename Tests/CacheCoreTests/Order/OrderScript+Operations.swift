import CLinux
import CacheKey
import CacheValues
import Glibc
import TestSupport

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// The operations on the cache and on the model.
extension OrderScript {
    /// Runs one operation. Returns the names it should have removed.
    func perform(_ fixture: CacheFixture) async throws -> Gone {
        for image in model.turning { _ = try age(fixture, image) }
        // Some images are requested more often than others.
        let image = min(
            Int.random(in: 0..<Self.images, using: &random),
            Int.random(in: 0..<Self.images, using: &random))
        switch Int.random(in: 0..<1000, using: &random) {
        case 0..<430: return try await fetch(fixture, image, "fetch")
        case 430..<470: return try await fetch(fixture, image, isRefresh: true, "refresh")
        case 470..<500: return try await failToFetch(fixture, image)
        case 500..<700: return try open(fixture, image)
        case 700..<760: return try age(fixture, image)
        case 760..<800: return try await pin(fixture, image)
        case 800..<840: return try await unpin(fixture)
        case 840..<880: return try await remove(fixture, image)
        case 880..<910: return try delete(fixture, image)
        case 910..<935: return try moveOut(fixture, image)
        case 935..<975: return try await restore(fixture)
        case 975..<980: return try await copyOut(fixture, image)
        case 980..<990: return try limit(fixture)
        default: return await evict(fixture)
        }
    }

    private func did(_ what: String, _ image: Int? = nil) {
        figures.counts[what, default: 0] += 1
        trace.append(image.map { "\(what) \($0)" } ?? what)
        if trace.count > 8 { trace.removeFirst() }
    }

    /// The bytes that a name uses on the disk; `nil` if it does not exist.
    func allocated(_ name: String) -> Int64? {
        var status = stat()
        return lstat("\(directory)/\(name)", &status) == 0 ? Int64(status.st_blocks) * 512 : nil
    }

    private func came(_ image: Int, isPinned: Bool) throws {
        guard let bytes = allocated(names[image]) else {
            throw TestFailure("operation \(figures.operations): \(image) does not exist")
        }
        model.came(
            image, bytes: bytes, isPinned: isPinned, fetchedAt: try fetchTime(of: image))
    }

    // MARK: Downloads

    private func fetch(
        _ fixture: CacheFixture, _ image: Int, isRefresh: Bool = false, _ name: String
    ) async throws -> Gone {
        let body = bodies.randomElement(using: &random) ?? []
        // Without a length the cache reserves a whole step, if one is available.
        let step = Int64(256 << 10)
        let isFramed = !(random.oneIn(8) && model.mayFit(image, step))
        let length = isFramed ? Int64(body.count) : step
        let path = "/\(image).png"
        let old = model[image]
        let isMiss = old == nil || isRefresh
        if isMiss, takesOneOfSeveralPartials(image, length) {
            // The cache does not promise the order in which it evicts partials.
            return try open(fixture, image)
        }
        did(isMiss ? name : "hit", image)
        origin.route(path, isFramed ? .answer(body: body) : .chunked(body))
        let outcome = try await fixture.fetch(path, options: FetchOptions(isRefresh: isRefresh))
        let failure = outcome.failures.values.first?.kind
        model.used(image)
        guard isMiss else {
            try expectEqual(failure, nil, "a hit")
            return Gone()
        }
        guard model.mayFit(image, length) else {
            did("refused", image)
            try expectEqual(failure, .noRoom, "a download without room")
            return Gone()
        }
        try expectEqual(failure, nil, "a download")
        // They take a block.
        await fixture.writeAttributes()
        var gone = Gone()
        if model.partials[image] != nil { gone.asked.append(names[image] + ".part") }
        gone.victims = model.madeRoom(for: image, length)
        try came(image, isPinned: old?.isPinned ?? false)
        return gone
    }

    private func takesOneOfSeveralPartials(_ image: Int, _ length: Int64) -> Bool {
        var ahead = model
        return model.partials.keys.count { $0 != image } > 1 && model.mayFit(image, length)
            && !ahead.madeRoom(for: image, length).partials.isEmpty
    }

    /// A download that breaks off and leaves a partial. It needs no eviction, because an eviction
    /// would continue while the download breaks off.
    private func failToFetch(_ fixture: CacheFixture, _ image: Int) async throws -> Gone {
        let body = bodies[Int.random(in: 16..<bodies.count, using: &random)]
        let length = Int64(body.count)
        var ahead = model
        guard model.mayFit(image, length), ahead.madeRoom(for: image, length) == .init() else {
            return try open(fixture, image)
        }
        did("failed fetch", image)
        origin.route("/\(image).png", .cut(body, after: body.count / 2))
        let outcome = try await fixture.fetch(
            "/\(image).png", options: FetchOptions(isRefresh: true))
        try expectEqual(outcome.failures.count, 1, "failures of a download that broke off")
        model.used(image)
        var gone = Gone()
        if model.partials[image] != nil { gone.asked.append(names[image] + ".part") }
        model.partials[image] = allocated(names[image] + ".part")
        return gone
    }

    // MARK: User operations

    private func open(_ fixture: CacheFixture, _ image: Int) throws -> Gone {
        // An image that exists, if there is one.
        let image =
            model[image]?.image ?? model.entries.randomElement(using: &random)?.image ?? image
        did("open", image)
        let file = Glibc.open("\(directory)/\(names[image])", O_RDONLY | O_CLOEXEC)
        if file >= 0 {
            var byte: UInt8 = 0
            _ = read(file, &byte, 1)
            close(file)
        }
        try expectEqual(file >= 0, model[image] != nil, "an opening")
        model.used(image)
        _ = try fixture.lookup("/\(image).png")
        return Gone()
    }

    /// Another program says in the record that the image was received long ago, so its next use, and the present
    /// one too, count as uses of an old image.
    private func age(_ fixture: CacheFixture, _ image: Int) throws -> Gone {
        guard model[image] != nil else { return try open(fixture, image) }
        did("age", image)
        let fetchedAt = time(nil) - 1000
        try setFetchTime(of: image, fetchedAt)
        model.aged(image, fetchedAt: fetchedAt)
        try expectEqual(try fixture.lookup("/\(image).png").isCached, true, "aged and cached")
        return Gone()
    }

    private func pin(_ fixture: CacheFixture, _ image: Int) async throws -> Gone {
        guard let entry = model[image], model.pinnedBytes + entry.bytes < Self.range.lowerBound / 2
        else { return try open(fixture, image) }
        try await pin(fixture, image, true)
        return Gone()
    }

    private func unpin(_ fixture: CacheFixture) async throws -> Gone {
        if let entry = model.entries.filter(\.isPinned).randomElement(using: &random) {
            try await pin(fixture, entry.image, false)
        }
        return Gone()
    }

    private func pin(_ fixture: CacheFixture, _ image: Int, _ isPinned: Bool) async throws {
        did(isPinned ? "pin" : "unpin", image)
        let key = try fixture.imageRequest("/\(image).png").key
        let failures = await withCheckedContinuation { continuation in
            fixture.cache.pin([key], isPinned) { continuation.resume(returning: $0) }
        }
        try expectEqual(failures.count, 0, "failures to pin")
        model.pinned(image, isPinned)
    }

    private func remove(_ fixture: CacheFixture, _ image: Int) async throws -> Gone {
        did("remove", image)
        let removal = try await fixture.remove("/\(image).png")
        try expectEqual(removal.entries, model[image] == nil ? 0 : 1, "entries removed")
        try expectEqual(removal.bytes, model[image]?.bytes ?? 0, "bytes removed")
        var gone = Gone()
        if model[image] != nil { gone.asked.append(names[image]) }
        if model.partials[image] != nil { gone.asked.append(names[image] + ".part") }
        model.went(image)
        model.partials[image] = nil
        return gone
    }

    private func limit(_ fixture: CacheFixture) throws -> Gone {
        did("limits")
        model.maximumBytes = Int64.random(in: Self.range, using: &random)
        model.maximumEntries = random.oneIn(3) ? Int.random(in: 10...80, using: &random) : .max
        var settings = fixture.cache.settings
        settings.limits = Self.limits(model)
        try fixture.cache.apply(settings)
        return Gone()
    }

    private func evict(_ fixture: CacheFixture) async -> Gone {
        did("evict")
        let bytes = Int64.random(in: model.used / 2...model.used, using: &random)
        let removal = await withCheckedContinuation { continuation in
            fixture.cache.evict(toBytes: bytes) { gone, _ in continuation.resume(returning: gone) }
        }
        var gone = Gone()
        gone.victims.toTheWatermark = model.went(to: bytes)
        if removal.entries != gone.victims.toTheWatermark.count { trace.append("(\(removal))") }
        return gone
    }

    // MARK: External changes

    private func delete(_ fixture: CacheFixture, _ image: Int) throws -> Gone {
        guard model[image] != nil else { return try open(fixture, image) }
        did("delete", image)
        guard unlink("\(directory)/\(names[image])") == 0 else {
            throw TestFailure("unlink of \(names[image]) failed")
        }
        model.went(image)
        try expectEqual(try fixture.lookup("/\(image).png").isCached, false, "deleted and cached")
        return Gone(asked: [names[image]])
    }

    private func moveOut(_ fixture: CacheFixture, _ image: Int) throws -> Gone {
        guard let entry = model[image] else { return try open(fixture, image) }
        did("move out", image)
        try move(from: "\(directory)/\(names[image])", to: "\(side)/\(names[image])")
        kept[image] = entry.isPinned
        model.went(image)
        try expectEqual(try fixture.lookup("/\(image).png").isCached, false, "moved and cached")
        return Gone()
    }

    private func copyOut(_ fixture: CacheFixture, _ image: Int) async throws -> Gone {
        guard let entry = model[image] else { return try open(fixture, image) }
        did("copy out", image)
        try await runSuccessfully("cp", ["-a", "\(directory)/\(names[image])", side])
        kept[image] = entry.isPinned
        // The copy opened the file, which counts as a use.
        model.used(image)
        return Gone()
    }

    /// Moves a file back, or a copy of it with all its attributes.
    private func restore(_ fixture: CacheFixture) async throws -> Gone {
        let choice = kept.keys.sorted().filter { model[$0] == nil }.randomElement(using: &random)
        guard let image = choice, let isPinned = kept[image] else {
            return try open(fixture, 0)
        }
        did("restore", image)
        if random.oneIn(6) {
            try await runSuccessfully("cp", ["-a", "\(side)/\(names[image])", directory])
        } else {
            try move(from: "\(side)/\(names[image])", to: "\(directory)/\(names[image])")
            kept[image] = nil
        }
        try came(image, isPinned: isPinned)
        try expectEqual(try fixture.lookup("/\(image).png").isCached, true, "restored and cached")
        return Gone()
    }

    private func move(from old: String, to new: String) throws {
        guard rename(old, new) == 0 else { throw TestFailure("rename of \(new) failed") }
    }
}
