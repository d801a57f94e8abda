import CacheFetching
internal import CacheKey
import CacheValues
import ImageFormats

/// The owner of a ``TransferLoop``: it decides about space and order, and is notified of progress. The loop's
/// thread calls it, and the ``BodyThread`` asks for room. A flight can be over already when a call arrives.
protocol TransferDelegate: AnyObject, Sendable {
    /// A download begins with `received` bytes of `total` that a partial has, or starts over with none.
    func downloadBegan(_ key: CacheKey, _ id: FlightID, received: Int64, of total: Int64?)

    /// The first response began. If its connection is multiplexed, as with HTTP/2, other downloads from the host
    /// can share it.
    func downloadAnswered(_ id: FlightID, isMultiplexed: Bool)

    /// The download has reached a host that is another one on another network.
    func downloadIsLocal(_ key: CacheKey, _ id: FlightID)

    /// The flow that the download belongs to now, and with it its priority; `nil` once the flight is over.
    func flow(of key: CacheKey, _ id: FlightID) -> FlowKey?

    /// The download has `received` bytes of `total`, if the origin promised a length. They show the shape of the
    /// image, or nothing yet.
    func downloadProgressed(
        _ key: CacheKey, _ id: FlightID, received: Int64, of total: Int64?, _ shape: ImageShape?)

    /// Returns why an image of the promised length can never be taken, or `nil`.
    func refusal(of key: CacheKey, _ id: FlightID, length: Int64) -> Failure?

    /// Asks for space before bytes are written.
    ///
    /// - Parameters:
    ///   - needed: Bytes of the image that are about to be there.
    ///   - length: Bytes of the whole image, if the origin promised a length.
    /// - Returns: Bytes to which the image may grow.
    /// - Throws: Why it cannot. After ``Failure/waitsForSpace`` the download is queued again as another flight,
    ///   which can continue the partial.
    func reserve(
        for key: CacheKey, _ id: FlightID, needed: Int64, length: Int64?
    ) throws(Failure) -> Int64

    /// The disk is full in spite of a grant. Evicts for `bytes` more; returns whether it made room.
    func makeRoom(for key: CacheKey, _ bytes: Int64) -> Bool

    /// How long an answer of the store may take by now. `nil` if this is not about a store.
    var storePatience: StorePatience? { get }

    /// The cancelled download has only its name lookup left, which nothing can stop.
    func downloadAbandoned(_ id: FlightID)

    /// The name lookup that a cancelled download left behind has ended.
    func lookupEnded(_ id: FlightID)

    /// The download is over.
    func downloadEnded(_ key: CacheKey, _ id: FlightID, _ end: TransferEnd)
}

extension TransferDelegate {
    var storePatience: StorePatience? { nil }
}
