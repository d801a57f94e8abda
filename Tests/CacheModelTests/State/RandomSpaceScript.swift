import CacheKey
import CacheSamples
import CacheValues
import TestSupport

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Random downloads that ask for space under a small budget with pins, and a simple model of the
/// victims that they should cause. Several downloads run at once and wait for each other.
struct RandomSpaceScript {
    private struct Entry {
        let image: String
        var bytes: Int64
        var isPinned = false
    }

    private static let block: Int64 = 4096
    private static let images = (0..<20).map { "\($0)" }

    /// The first violation.
    private(set) var complaint: String?

    private let script = StateScript(transferLimit: 100, bytes: 40 * block)
    private var random: SeededGenerator
    /// The least recently used first.
    private var entries: [Entry] = []
    /// The reservation of each running download.
    private var reserved: [String: Int64] = [:]
    /// The blocks that each started download will ask for.
    private var lengths: [String: Int64] = [:]
    private var condemned: [(image: String, bytes: Int64)] = []
    /// Downloads that were started and have not asked for space yet.
    private var started: Set<String> = []
    private var goal: Int64?
    private var maximum = 40 * block

    private var used: Int64 { entries.reduce(0) { $0 + $1.bytes } }
    private var promised: Int64 { reserved.values.reduce(0, +) }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func run(events: Int) {
        for number in 0..<events where complaint == nil {
            event()
            check(number)
        }
    }

    private mutating func event() {
        let image = Self.images.randomElement(using: &random) ?? "0"
        let flying = lengths.keys.sorted().randomElement(using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: if lengths[image] == nil, !isGoing(image) { begin(image) }
        case 30..<50: if let next = started.sorted().randomElement(using: &random) { ask(next) }
        case 50..<70: if let flying, reserved[flying] != nil { land(flying) }
        case 70..<75: if let flying, script.phase(flying) != .queued { fail(flying) }
        case 75..<85: lose()
        case 85..<92: evict()
        case 92..<97: pin(image)
        default: limit()
        }
    }

    /// The image's file is removed before a new one can be published.
    private func isGoing(_ image: String) -> Bool { condemned.contains { $0.image == image } }

    // MARK: Events

    private mutating func begin(_ image: String) {
        lengths[image] = Int64.random(in: 1...12, using: &random)
        note(script.want(image, by: nil, FetchOptions(isRefresh: true)))
        if let index = entries.firstIndex(where: { $0.image == image }) {
            entries.append(entries.remove(at: index))
        }
    }

    private mutating func ask(_ image: String) {
        let (length, id) = ((lengths[image] ?? 0) * Self.block, script.flight(image))
        started.remove(image)
        expect("\(image) asks", script.asks(image, for: 1, of: length), answer(image, length))
        guard let refusal = script.refusal else { return }
        script.refusal = nil
        if refusal == .waitsForSpace {
            expect("\(image) stops", script.finishes(image, id, failing: refusal), [])
        } else {
            fail(image)
        }
    }

    private mutating func answer(_ image: String, _ length: Int64) -> [String] {
        let need = length + Self.block
        let old = entries.first { $0.image == image && !$0.isPinned }?.bytes ?? 0
        let pinned = entries.filter(\.isPinned).reduce(0) { $0 + $1.bytes }
        guard pinned + old + need <= maximum else { return ["refused: noRoom"] }
        let going = condemned.reduce(0) { $0 + $1.bytes }
        let excess = used + promised + going + need - maximum
        var victims: [Entry] = []
        var freed: Int64 = 0
        if excess <= used - pinned {
            while freed < excess, let victim = nextVictim() {
                victims.append(victim)
                freed += victim.bytes
            }
        }
        guard freed >= excess else {
            let hope = !reserved.isEmpty || !condemned.isEmpty
            return [hope ? "wait" : "refused: noRoom"]
                + victims.map { "without \($0.image)" }
        }
        reserved[image] = need
        return ["granted \(length)"] + victims.map { "without \($0.image)" }
            + (victims.isEmpty ? [] : evicting())
    }

    private mutating func nextVictim() -> Entry? {
        guard let index = entries.firstIndex(where: { !$0.isPinned && lengths[$0.image] == nil })
        else { return nil }
        condemned.append((entries[index].image, entries[index].bytes))
        return entries.remove(at: index)
    }

    private mutating func evicting() -> [String] {
        let mark = maximum - maximum / 10
        guard goal == nil, used + promised > mark else { return [] }
        goal = mark
        return ["evict to \(mark)"]
    }

    private mutating func checkingLimits() -> [String] {
        used + promised > maximum ? evicting() : []
    }

    private mutating func land(_ image: String) {
        let bytes = reserved.removeValue(forKey: image) ?? 0
        let isPinned = entries.first { $0.image == image }?.isPinned ?? false
        entries.removeAll { $0.image == image }
        entries.append(Entry(image: image, bytes: bytes, isPinned: isPinned))
        lengths[image] = nil
        expect("\(image) ends", script.finishes(image), ["publish \(image)"])
        let facts = Sample.facts(allocated: bytes, isPinned: isPinned)
        expect("\(image) lands", script.published(image, facts), checkingLimits())
        settle()
    }

    private mutating func fail(_ image: String) {
        (lengths[image], reserved[image]) = (nil, nil)
        started.remove(image)
        expect("\(image) fails", script.finishes(image, failing: .http(500)), [])
        settle()
    }

    /// The script removes the download's partial at once.
    private mutating func settle() {
        for key in script.state.disk.space.partials.dirtyNames {
            script.state.disk.partialProbed(key, nil)
        }
    }

    private mutating func lose() {
        guard !condemned.isEmpty else { return }
        let victim = condemned.removeFirst()
        expect("\(victim.image) is lost", script.loses(victim.image), [])
    }

    private mutating func evict() {
        guard let goal else { return }
        var victims: [String] = []
        while victims.count < 2, used + promised > goal, let victim = nextVictim() {
            victims.append(victim.image)
        }
        if victims.count < 2 {
            self.goal = nil
            if used + promised <= goal { victims += checkingLimits() }
        }
        let eviction = EvictionGoal(bytes: goal)
        expect("an eviction", script.evicts(eviction, isOwn: true, limit: 2), victims)
    }

    private mutating func pin(_ image: String) {
        guard lengths[image] == nil, let index = entries.firstIndex(where: { $0.image == image })
        else { return }
        entries[index].isPinned.toggle()
        let isPinned = entries[index].isPinned
        expect("\(image) is pinned", script.pins(image, isPinned), [])
    }

    private mutating func limit() {
        let bytes = Int64.random(in: 30...50, using: &random) * Self.block
        maximum = bytes
        expect("limits", script.limits { $0.maximumBytes = bytes }, checkingLimits())
    }

    // MARK: The comparison

    /// The model does not predict which download starts when; ``check(_:)`` checks that none is
    /// forgotten.
    private mutating func expect(_ event: String, _ said: [String], _ expected: [String]) {
        note(said)
        let rest = said.filter { !$0.hasPrefix("start ") }
        guard complaint == nil, rest != expected else { return }
        complaint = "\(event): \(rest), expected \(expected)"
    }

    private mutating func note(_ said: [String]) {
        for word in said where word.hasPrefix("start ") {
            started.insert(String(word.dropFirst("start ".count)))
        }
    }

    private mutating func check(_ number: Int) {
        guard complaint == nil else { return }
        if script.order != entries.reversed().map({ script.key($0.image) }) {
            complaint = "event \(number): the order of use differs"
        }
        let held = used + promised + condemned.reduce(0) { $0 + $1.bytes }
        if script.state.disk.bytesHeld != held {
            complaint = "event \(number): \(script.state.disk.bytesHeld) held"
        }
        let waiting = lengths.keys.filter { reserved[$0] == nil && !started.contains($0) }
        if !waiting.isEmpty, reserved.isEmpty, condemned.isEmpty, started.isEmpty {
            complaint = "event \(number): \(waiting) wait forever"
        }
    }
}
