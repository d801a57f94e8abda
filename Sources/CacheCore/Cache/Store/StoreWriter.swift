internal import Synchronization

/// Writes to the store on a thread of its own, so that uploads never delay a question. It is also the clock of the
/// store: it ends the times in which the store is left alone.
final class StoreWriter: Sendable {
    private let multi: CurlMulti
    private let services: CurlMulti
    private let settings: StoreSettings
    private let access: StoreAccess
    private let thread = Mutex<NamedThread?>(nil)
    /// When the thread has to end; `nil` while it runs without a limit.
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    init(_ settings: StoreSettings, _ access: StoreAccess) throws(CacheError) {
        (self.settings, self.access) = (settings, access)
        (multi, services) = (try CurlMulti(), try CurlMulti())
    }

    func start(_ cache: Cache, _ transfers: TransferSettings) {
        let (multi, services, access, rate) = (multi, services, access, settings.maximumRate)
        thread.withLock { thread in
            thread = NamedThread("store-write") {
                StoreWriterThread(
                    cache, access, RequestEnvironment(transfers, multi.connections), multi,
                    BriefRequests(
                        multi: services,
                        environment: RequestEnvironment(transfers, services.connections)),
                    rate: rate
                ).run { self.end.withLock { $0 } }
            }
        }
    }

    /// There is something to write, or another time to wake up at. Never blocks.
    func wakeUp() { multi.wakeUp() }

    /// Ends the thread once everything is written, or after a time.
    func finish(within time: Duration) {
        end.withLock { $0 = .now + time }
        multi.wakeUp()
        thread.withLock { $0.take() }?.join()
    }
}
