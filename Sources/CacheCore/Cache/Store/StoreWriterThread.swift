import CacheFetching
internal import CacheKey
import CacheModel
internal import Logging

/// The work of the thread that writes to the store. No other thread uses anything of it.
final class StoreWriterThread {
    private let cache: Cache
    private let access: StoreAccess
    private let environment: RequestEnvironment
    private let multi: CurlMulti
    /// For the service that gives credentials.
    private let requests: BriefRequests
    /// Bytes a second of one upload.
    private let rate: Int64?
    private var writes: [FlightID: StoreWrite] = [:]
    private var lastID: UInt64 = 0
    /// Writes that ended.
    private var ended = 0

    /// The longest sleep in milliseconds. Work ends it early.
    private static let longestSleep: Int32 = 60_000
    /// The time between two looks for other credentials while the store refuses these.
    private static let lookInterval = Duration.milliseconds(500)

    init(
        _ cache: Cache, _ access: StoreAccess, _ environment: RequestEnvironment,
        _ multi: CurlMulti, _ requests: BriefRequests, rate: Int64?
    ) {
        (self.cache, self.access, self.environment) = (cache, access, environment)
        (self.multi, self.requests) = (multi, requests)
        self.rate = rate.map { max(1, $0 / Int64(StoreState.mostWrites)) }
        multi.configure(connections: StoreState.mostWrites)
    }

    /// - Parameter end: when the thread has to end; `nil` if it goes on.
    func run(until end: () -> ContinuousClock.Instant?) {
        lookForCredentials()
        while true {
            useOtherCredentials()
            cache.run { $0.fetching.storeTimePassed(now: .now, &$1) }
            begin()
            multi.perform()
            let before = ended
            while let (handle, result) = multi.nextFinished() {
                finished(.owning(handle), result)
            }
            endWaiting()
            let limit = end()
            if let limit, limit <= .now || isDone { break }
            // The next writes begin at once in the places of those that ended.
            multi.poll(milliseconds: ended == before ? sleepTime(until: limit) : 0)
        }
        for write in writes.values { multi.remove(write.request.easy) }
        let left = cache.read { $0.fetching.store.map { StoreStatistics($0).queued } ?? 0 }
        guard left > 0 else { return }
        cache.logger.notice(
            """
            the daemon ends before all images are in the store; the others are put there when a machine \
            downloads them again
            """,
            metadata: ["images": "\(left)"])
    }

    /// Says at the start that there are no credentials, rather than at the first image.
    private func lookForCredentials() {
        _ = access.renew(requests)
        do throws(StoreCredentialSource.Missing) {
            _ = try access.credentials()
        } catch {
            var random = SystemRandomNumberGenerator()
            cache.run {
                $0.fetching.storeLacksCredentials(.noCredentials(error), .now, using: &random, &$1)
            }
        }
    }

    /// A store that refuses this machine is asked again as soon as there are other credentials.
    private func useOtherCredentials() {
        let hasOthers = access.renew(requests)
        guard cache.read({ $0.fetching.store?.isRefused == true }),
            hasOthers || access.hasOtherCredentials()
        else { return }
        cache.run { state, _ in state.fetching.storeMayBeInReach() }
    }

    /// Whether nothing is left to write, or nothing can be written now.
    private var isDone: Bool {
        writes.isEmpty
            && cache.read { $0.fetching.isStoreWritten || $0.fetching.store?.writes.reason != nil }
    }

    /// Begins the writes whose turn it is.
    private func begin() {
        while let task = cache.run({ state, _ in state.fetching.takeStoreTask() }) {
            guard let write = prepared(task) else { continue }
            writes[write.id] = write
            multi.add(write.request.easy)
        }
    }

    /// `nil` if the write ended before it began.
    private func prepared(_ task: StoreTask) -> StoreWrite? {
        lastID += 1
        do {
            if let write = try StoreWrite(
                FlightID(rawValue: lastID), task, access, cache, environment, rate: rate)
            {
                return write
            }
            report(task, .obsolete)
        } catch let missing as StoreCredentialSource.Missing {
            report(task, .refused(.noCredentials(missing)))
        } catch {
            report(task, .failed("\(error)"))
        }
        return nil
    }

    private func finished(_ request: Request, _ end: RequestEnd) {
        guard let write = writes[request.flight] else {
            preconditionFailure("libcurl finished a request of no write")
        }
        self.end(write, end)
    }

    private func end(_ write: StoreWrite, _ end: RequestEnd) {
        multi.remove(write.request.easy)
        writes[write.id] = nil
        ended += 1
        report(write.task, write.finish(end))
    }

    private func report(_ task: StoreTask, _ end: StoreWriteEnd) {
        var random = SystemRandomNumberGenerator()
        cache.run { $0.fetching.storeTaskEnded(task, end, now: .now, using: &random, &$1) }
    }

    /// Ends requests that wait too long for a connection or an answer.
    private func endWaiting() {
        let now = ContinuousClock.now
        for write in writes.values {
            guard let deadline = write.request.deadline, deadline < now else { continue }
            end(write, .failed(.timedOut))
        }
    }

    /// Milliseconds until there is work even if nothing happens.
    private func sleepTime(until limit: ContinuousClock.Instant?) -> Int32 {
        let now = ContinuousClock.now
        let times =
            writes.values.map(\.request.deadline)
            + [limit, access.renewal, cache.read { $0.fetching.store?.nextEvent }]
        let look =
            cache.read { $0.fetching.store?.isRefused == true } ? now + Self.lookInterval : nil
        guard let next = (times + [look]).compactMap(\.self).min() else { return Self.longestSleep }
        let left = max(now.duration(to: next), .zero)
        return min(Self.longestSleep, Int32(clamping: Int64(left / .milliseconds(1)) + 1))
    }
}
