import CacheKey
import Glibc

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// A simple model of the entries and victims of a cache: one array in
/// the order of use, and every sum computed from scratch.
struct OrderModel {
    struct Entry {
        let image: Int
        /// The bytes that the entry uses on the disk.
        var bytes: Int64
        var isPinned: Bool
        /// When its bytes were received, in seconds since 1970.
        var fetchedAt: Int
        var lastUse: Int

        /// Whether it was evicted before it was used, and came back while the same cache ran.
        var hasReturned = false

        /// Whether it was used after its first ten seconds.
        var isUsed: Bool { hasReturned || lastUse >= fetchedAt + 10 }
    }

    /// The victims for a download: some are evicted before it writes, the others while it runs.
    struct Victims: Equatable {
        var atOnce: [Int] = []
        /// Partials are evicted last.
        var partials: [Int] = []
        var toTheWatermark: [Int] = []
    }

    /// The least recently used first.
    private(set) var entries: [Entry] = []
    /// The bytes that partials use on the disk.
    var partials: [Int: Int64] = [:]
    var maximumBytes: Int64
    var maximumEntries = Int.max
    /// The keys of the images.
    private let keys: [CacheKey]
    /// The images that were evicted before they were used. Tests of the index say how many are remembered.
    private var ghosts = Ghosts()

    var used: Int64 {
        entries.reduce(0) { $0 + $1.bytes } + partials.values.reduce(0, +)
    }

    private var pinned: [Entry] { entries.filter(\.isPinned) }

    /// Bytes of pinned entries.
    var pinnedBytes: Int64 { pinned.reduce(0) { $0 + $1.bytes } }

    subscript(image: Int) -> Entry? { entries.first { $0.image == image } }

    init(maximumBytes: Int64, keys: [CacheKey]) {
        (self.maximumBytes, self.keys) = (maximumBytes, keys)
    }

    // MARK: Events

    /// Records a hit, or an opening of the file.
    mutating func used(_ image: Int) {
        guard let index = entries.firstIndex(where: { $0.image == image }) else { return }
        entries.append(entries.remove(at: index))
        entries[entries.count - 1].lastUse = time(nil)
    }

    /// Records that another cache runs on the directory now.
    mutating func restarted() {
        ghosts = Ghosts()
        for index in entries.indices { entries[index].hasReturned = false }
    }

    /// Records that an hour has passed since everything before.
    mutating func hourPassed() {
        for index in entries.indices {
            entries[index].fetchedAt -= 3600
            entries[index].lastUse -= 3600
        }
    }

    /// Records that the bytes of an image were received earlier than before.
    mutating func aged(_ image: Int, fetchedAt: Int) {
        for index in entries.indices where entries[index].image == image {
            entries[index].fetchedAt = fetchedAt
        }
    }

    /// The images whose first ten seconds end about now. The model does not know whether the cache counts a use before
    /// or after that.
    var turning: [Int] {
        let times = (latestUse ?? 0) - 3...time(nil) + 3
        return entries.filter { times.contains($0.fetchedAt + 10) }.map(\.image)
    }

    private var latestUse: Int? { entries.map(\.lastUse).max() }

    /// Records that the cache published an image, or another program put one there.
    mutating func came(_ image: Int, bytes: Int64, isPinned: Bool, fetchedAt: Int) {
        went(image)
        entries.append(
            Entry(
                image: image, bytes: bytes, isPinned: isPinned, fetchedAt: fetchedAt,
                lastUse: time(nil), hasReturned: ghosts.remove(keys[image])))
    }

    mutating func went(_ image: Int) {
        entries.removeAll { $0.image == image }
    }

    mutating func pinned(_ image: Int, _ isPinned: Bool) {
        for index in entries.indices where entries[index].image == image {
            entries[index].isPinned = isPinned
        }
    }

    // MARK: Victims

    /// Whether an image of this length fits once all unpinned entries are evicted.
    func mayFit(_ image: Int, _ length: Int64) -> Bool {
        let old = self[image]
        let immovable = pinnedBytes + (old?.isPinned == false ? old?.bytes ?? 0 : 0)
        return immovable + Self.promised(length) <= maximumBytes
            && (old != nil || pinned.count < maximumEntries)
    }

    /// Makes space for a download of an image.
    mutating func madeRoom(for image: Int, _ length: Int64) -> Victims {
        let newcomers = self[image] == nil ? 1 : 0
        let promised = Self.promised(length)
        var victims = Victims()
        partials[image] = nil
        while used + promised > maximumBytes || entries.count + newcomers > maximumEntries {
            if let victim = nextVictim(sparing: image) {
                victims.atOnce.append(victim)
            } else if let partial = partials.keys.first {
                partials[partial] = nil
                victims.partials.append(partial)
            } else {
                break
            }
        }
        guard victims != Victims() else { return victims }
        let isMany = entries.count + newcomers >= maximumEntries
        victims.toTheWatermark = went(
            to: bytesKept - promised,
            entries: isMany ? watermark(maximumEntries) - newcomers : .max, sparing: image)
        return victims
    }

    /// The victims evicted because a limit is exceeded.
    mutating func keptLimits() -> [Int] {
        guard used > maximumBytes || entries.count > maximumEntries else { return [] }
        let most = entries.count >= maximumEntries ? watermark(maximumEntries) : .max
        return went(to: bytesKept, entries: most)
    }

    /// The victims evicted until at most this many bytes are used.
    mutating func went(
        to bytes: Int64, entries most: Int = .max, sparing image: Int? = nil
    ) -> [Int] {
        var victims: [Int] = []
        while used > bytes || entries.count > most, let victim = nextVictim(sparing: image) {
            victims.append(victim)
        }
        return victims
    }

    /// The oldest of those that were never used. It is the oldest of all, if the used ones have more than nine tenths
    /// of the bytes, or if the first ten seconds of the oldest of the others had not ended at the latest use of all.
    private mutating func nextVictim(sparing image: Int?) -> Int? {
        let unpinned = entries.filter { !$0.isPinned }
        let bytes = unpinned.reduce(0) { $0 + $1.bytes }
        let usedBytes = unpinned.filter(\.isUsed).reduce(0) { $0 + $1.bytes }
        let candidates = entries.indices.filter {
            !entries[$0].isPinned && entries[$0].image != image
        }
        var victim = candidates.first
        if usedBytes * 10 <= bytes * 9,
            let unused = candidates.first(where: { !entries[$0].isUsed }),
            let latestUse, latestUse >= entries[unused].fetchedAt + 10
        {
            victim = unused
        }
        guard let victim else { return nil }
        if !entries[victim].isUsed {
            ghosts.insert(keys[entries[victim].image], beside: entries.count)
        }
        return entries.remove(at: victim).image
    }

    /// Whole blocks, and one for the attributes.
    private static func promised(_ length: Int64) -> Int64 { (length + 4095) / 4096 * 4096 + 4096 }

    /// Nine tenths of the bytes left to entries beside the partials.
    private var bytesKept: Int64 {
        let rests = min(partials.values.reduce(0, +), maximumBytes)
        return rests + watermark(maximumBytes - rests)
    }

    /// Nine tenths.
    private func watermark<Number: BinaryInteger>(_ limit: Number) -> Number { limit - limit / 10 }
}
