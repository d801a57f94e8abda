import CacheKey
import CacheSamples
import CacheValues
import TestSupport
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Many machines want the same new images at one moment. Time is counted, not waited for.
@Suite("State: a flash of new images", .timeLimit(.minutes(5)))
struct FlashTests {
    @Test(arguments: [Priority.normal, .background], isLongForm ? [20, 1000] : [20, 100])
    func eachImageIsDownloadedAboutOnce(priority: Priority, machines: Int) {
        var fleet = Fleet(machines: machines, images: 30, priority: priority, dying: 0)
        fleet.run()
        let times = fleet.times.sorted()
        #expect(times.count == machines * 30)
        #expect(fleet.requests <= 60, "\(fleet.requests)")
        let usual = times[times.count / 2]
        if priority == .normal { #expect(usual <= Fleet.download * 1.3, "\(usual)") }
        if isLongForm {
            print(
                "\(priority), \(machines) machines:", Double(fleet.requests) / 30, "downloads,",
                Double(fleet.questions) / Double(machines * 30), "questions an image;", "p50",
                usual, "p99", times[times.count * 99 / 100], "last", times[times.count - 1])
        }
    }

    /// Hundreds of questions wait for each other in the store, so answers that usually take 5 ms take half a second.
    @Test(arguments: [false, true], [500, 1000])
    func aStoreWithMuchToDoStillSavesMostDownloads(isKnown: Bool, microseconds: Int) {
        var fleet = Fleet(
            machines: 20, images: 30, priority: .normal, dying: 0,
            service: .microseconds(microseconds), isKnown: isKnown)
        fleet.run()
        #expect(fleet.times.count == 600)
        #expect(fleet.requests <= 90, "\(fleet.requests) requests, \(fleet.late) late")
    }

    /// Its claims stay, and no image comes.
    @Test func aMachineThatDiesCostsTheOthersASecond() {
        var fleet = Fleet(machines: 20, images: 6, priority: .normal, dying: 1)
        fleet.run()
        #expect(fleet.times.count == 19 * 6)
        let last = fleet.times.max() ?? .zero
        #expect(last <= Fleet.download + .milliseconds(1100), "\(last)")
    }
}

/// States of machines, with a store and an origin whose answers take the same time each.
private struct Fleet: ~Copyable {
    static let download = Duration.milliseconds(500)
    private static let answer = Duration.milliseconds(5)
    private static let upload = Duration.milliseconds(10)

    private enum Event {
        case wants
        case asked(FlightID, CacheKey, claims: Bool, after: Duration)
        case late(FlightID, CacheKey, claims: Bool, after: Duration)
        case downloaded(FlightID, CacheKey)
        case wrote(StoreTask)
        case woke
    }

    private enum Object {
        case claim(since: ContinuousClock.Instant)
        case image
    }

    private final class Machine {
        var state = CacheState(
            FetchingState(transferLimit: 32, originLimit: 6, store: StorePolicy()))
        var isDead = false
        var late: Set<FlightID> = []
        var answered: Set<FlightID> = []
        var wanted = Sample.moment.instant

        init() { state.disk.validity = .complete }
    }

    private let machines: [Machine]
    private var events = Schedule<(machine: Int, event: Event)>()
    private var objects: [CacheKey: Object] = [:]
    private var random = SeededGenerator(seed: 7)
    private var now = Sample.moment.instant
    private let images: [String]
    private let priority: Priority
    /// Machines that fail as soon as they have begun a download.
    private let dying: Int
    /// Requests to the origin.
    private(set) var requests = 0
    private(set) var questions = 0
    /// The time of each image on each machine.
    private(set) var times: [Duration] = []

    /// The time for which the store is busy with each request. It does one after the other.
    private let service: Duration
    private var storeIsFree = Sample.moment.instant

    init(
        machines: Int, images: Int, priority: Priority, dying: Int, service: Duration = .zero,
        isKnown: Bool = false
    ) {
        self.images = (0..<images).map { "\($0)" }
        self.service = service
        (self.priority, self.dying) = (priority, dying)
        self.machines = (0..<machines).map { _ in Machine() }
        if isKnown {
            for machine in self.machines {
                for _ in 0..<50 {
                    machine.state.fetching.store?.pace.answered(
                        head: Self.answer, whole: Self.answer, size: 1)
                }
            }
        }
        for machine in 0..<machines {
            // It is not exactly one moment. Those that die are first.
            let delay = machine < dying ? 0 : Int.random(in: 10_000...30_000, using: &random)
            later(.microseconds(delay), machine, .wants)
        }
    }

    var late: Int { machines.reduce(0) { $0 + ($1.state.fetching.store?.counters.late ?? 0) } }

    /// The time until the store has answered.
    private mutating func busy(_ time: Duration) -> Duration {
        storeIsFree = max(storeIsFree, now) + service
        return now.duration(to: storeIsFree) + time
    }

    mutating func run() {
        while let place = events.takeDue(now: now + .seconds(3600)) {
            now = place.instant
            guard !machines[place.event.machine].isDead else { continue }
            take(place.event.event, of: place.event.machine)
        }
    }

    private mutating func later(_ time: Duration, _ machine: Int, _ event: Event) {
        _ = events.add((machine, event), at: now + time)
    }

    private mutating func event(
        _ machine: Int, _ body: (inout CacheState, inout SeededGenerator, inout Effects) -> Void
    ) {
        var effects = Effects()
        body(&machines[machine].state, &random, &effects)
        for work in effects.work { take(work, of: machine) }
    }

    private mutating func take(_ event: Event, of machine: Int) {
        let moment = Moment(time: Sample.now, instant: now)
        switch event {
        case .wants:
            machines[machine].wanted = now
            let options = FetchOptions(priority: priority)
            for image in images {
                self.event(machine) { state, _, effects in
                    state.fetching.requested(
                        Sample.key(image), Sample.url(image), by: nil, options,
                        now: FileTime(Sample.now), &effects)
                }
            }
        case .asked(let id, let key, let claims, let time):
            machines[machine].answered.insert(id)
            let isLate = machines[machine].late.contains(id)
            guard claims || !isThere(key) else {
                return self.event(machine) { state, _, effects in
                    state.fetching.foundInStore(
                        key, id, size: 1000, reuse: .fresh, after: isLate ? nil : time, &effects)
                }
            }
            let answer = isLate ? .withdrawn : says(key, claims: claims)
            self.event(machine) { state, random, effects in
                state.fetching.notInStore(
                    key, id, answer, after: isLate ? nil : time, now: moment, using: &random,
                    &effects)
            }
        case .late(let id, let key, let claims, let waited):
            if machines[machine].answered.contains(id) { return }
            if !claims, let limit = machines[machine].state.fetching.storePatience?.limit,
                limit > waited
            {
                return later(
                    limit - waited, machine, .late(id, key, claims: claims, after: limit))
            }
            machines[machine].late.insert(id)
            self.event(machine) { state, random, effects in
                state.fetching.notInStore(
                    key, id, claims ? .late : .later, after: nil, now: moment, using: &random,
                    &effects)
            }
        case .downloaded(let id, let key):
            self.event(machine) { state, _, effects in
                state.fetching.downloaded(
                    key, id, bytes: 1000, firstByte: Self.download, whole: Self.download)
                state.fetching.imageStaged(key, id, size: 1000, isShareable: true, &effects)
            }
        case .wrote(let task):
            if task.kind != .mark { objects[task.key] = task.kind == .delete ? nil : .image }
            self.event(machine) { state, random, effects in
                state.fetching.storeTaskEnded(
                    task, .written(bytes: 1000), now: moment, using: &random, &effects)
            }
        case .woke:
            self.event(machine) { state, _, effects in
                state.fetching.pausesEnded(now: moment.instant, &effects)
            }
            wakeUp(machine)
        }
    }

    private func isThere(_ key: CacheKey) -> Bool {
        if case .image = objects[key] { true } else { false }
    }

    private mutating func says(_ key: CacheKey, claims: Bool) -> StoreAnswer {
        switch objects[key] {
        case nil where claims:
            objects[key] = .claim(since: now)
            return .claimed
        case nil: return .missing
        case .claim(let since) where !claims && since + .seconds(StoreClaim.lifetime) <= now:
            return .stale
        default: return .awaited
        }
    }

    private mutating func wakeUp(_ machine: Int) {
        guard let next = machines[machine].state.fetching.nextCheck(now: now) else { return }
        later(max(now.duration(to: next), .milliseconds(1)), machine, .woke)
    }

    private mutating func take(_ work: Work, of machine: Int) {
        switch work {
        case .askStore(let id, let key, _, _, let question):
            questions += 1
            let jitter = Double.random(in: 0.6...1.4, using: &random)
            let time = busy(Self.answer * jitter)
            let event = Event.asked(id, key, claims: question.claims, after: time)
            if time > question.patience.limit {
                let limit = question.patience.limit
                later(limit, machine, .late(id, key, claims: question.claims, after: limit))
            }
            if time <= question.patience.limit || !question.claims { later(time, machine, event) }
        case .startTransfer(let id, let key, _, _):
            requests += 1
            machines[machine].isDead = machine < dying
            later(Self.download, machine, .downloaded(id, key))
        case .publish(let id, let key):
            times.append(machines[machine].wanted.duration(to: now))
            event(machine) { state, _, effects in
                state.published(
                    Publication(flight: id, key: key, result: .success(Sample.facts())), &effects)
            }
        case .planRetry: wakeUp(machine)
        case .wakeStoreWriter:
            while let task = machines[machine].state.fetching.takeStoreTask() {
                later(busy(Self.upload), machine, .wrote(task))
            }
        default: break
        }
    }
}
