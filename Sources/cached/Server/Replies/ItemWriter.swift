import CacheCore
import CacheFetching
import CacheKey
import CacheValues
import CacheWire
import ImageFormats
import NIOCore

/// Writes the protocol's `Item`s by hand: the same JSON that encoding a `CacheWire.Item` gives, in a tenth of
/// the time. A test compares the two.
struct ItemWriter {
    /// The beginning of every path: the directory and a slash, escaped.
    private let pathPrefix: [UInt8]
    /// Bytes reserved for everything in an item except its URL, path prefix, failure message and details.
    private static let fixedRoom = 768
    private static let fromStore: StaticString = ",\"source\":\"store\""

    init(directory: String) {
        var buffer = ByteBuffer()
        let room = (directory.utf8.count + 1) * JSONBytes.escapedRoom
        buffer.writeJSON(room: room) { $0.putEscaped(directory + "/") }
        pathPrefix = Array(buffer.readableBytesView)
    }

    /// Writes one item.
    ///
    /// - Parameters:
    ///   - details: adds these values of the file's attributes, the entry's times, and whether it is pinned.
    ///   - standIn: the path of a smaller image that can be shown in its place.
    ///   - failure: why the call failed for this key; `nil` for the failure that the lookup contains.
    ///   - partial: adds the bytes of an interrupted download to an image that is missing.
    ///   - withPin: adds whether an entry is pinned.
    ///   - rank: why an entry has its place in the order of eviction.
    func write(
        url: UnsafeRawBufferPointer, _ key: CacheKey, _ lookup: Lookup,
        details: EntryDetails? = nil, standIn: String? = nil, failure: CacheValues.Failure? = nil,
        partial: RestingPartial? = nil, withPin: Bool = false, rank: Item.Rank? = nil,
        to output: inout ByteBuffer
    ) {
        let failure = failure ?? lookup.failure
        let room =
            Self.fixedRoom + pathPrefix.count
            + (url.count + (failure?.message.utf8.count ?? 0)) * JSONBytes.escapedRoom
            + (details?.source?.utf8.count ?? 0) * JSONBytes.escapedRoom
            + (standIn?.utf8.count ?? 0) * JSONBytes.escapedRoom
            + (details?.origin?.entityTag?.utf8.count ?? 0) * JSONBytes.escapedRoom
        output.writeJSON(room: room) { json in
            json.put("{\"url\":\"")
            json.putEscaped(url)
            json.put("\",\"key\":\"")
            json.put(key)
            switch lookup {
            case .missing:
                json.put("\",\"state\":\"missing\"")
                if let partial { put(partial.received, of: partial.total, &json) }
            case .inFlight(let progress):
                json.put("\",\"state\":\"inFlight\"")
                put(Refresh(progress), &json)
                if let shape = progress.shape { put(shape, &json) }
                if progress.source == .store { json.put(Self.fromStore) }
                if let isPinned = progress.isPinned { putPin(isPinned, &json) }
            case .cached(let facts, _, let refresh):
                json.put("\",\"state\":\"cached\"")
                if let refresh { put(refresh, &json) }
                putCached(key, facts, details, &json)
                if details != nil || withPin { putPin(facts.isPinned, &json) }
            }
            if let rank {
                json.put(",\"rank\":\"")
                json.putEscaped(rank.rawValue)
                json.put("\"")
            }
            if let standIn {
                json.put(",\"standIn\":\"")
                json.putEscaped(standIn)
                json.put("\"")
            }
            if let failure {
                json.put(",\"failure\":")
                put(failure, &json)
            }
            json.put("}")
        }
    }

    /// Writes the item of a text that is not a URL. Its key is made from the bytes all the same.
    func write(
        invalid url: UnsafeRawBufferPointer, _ problem: InvalidURL, to output: inout ByteBuffer
    ) {
        write(unknown: url, CacheValues.Failure(.invalidURL, problem.description), to: &output)
    }

    /// The same for a text that stands for no image, for the reason that the failure gives.
    func write(
        unknown url: UnsafeRawBufferPointer, _ failure: CacheValues.Failure,
        to output: inout ByteBuffer
    ) {
        write(url: url, CacheKey(urlBytes: url), .missing(failure), to: &output)
    }

    /// Writes a failure alone, without an item.
    func write(_ failure: CacheValues.Failure, to output: inout ByteBuffer) {
        let room = Self.fixedRoom + failure.message.utf8.count * JSONBytes.escapedRoom
        output.writeJSON(room: room) { put(failure, &$0) }
    }

    private func put(_ failure: CacheValues.Failure, _ json: inout JSONBytes) {
        json.put("{\"kind\":\"")
        json.putEscaped(failure.kind.rawValue)
        json.put("\",\"message\":\"")
        json.putEscaped(failure.message)
        json.put("\"")
        if let status = failure.httpStatus {
            json.put(",\"httpStatus\":")
            json.put(status)
        }
        if let time = failure.retryAt {
            json.put(",\"retryAt\":")
            json.put(time.rawValue)
        }
        json.put("}")
    }

    private func put(_ progress: Refresh, _ json: inout JSONBytes) {
        json.put(",\"phase\":\"")
        switch progress.phase {
        case .queued: json.put("queued")
        case .connecting: json.put("connecting")
        case .receiving: json.put("receiving")
        case .retrying: json.put("retrying")
        case .deriving: json.put("deriving")
        case .publishing: json.put("publishing")
        }
        json.put("\"")
        put(progress.received, of: progress.total, &json)
    }

    private func put(_ received: Int64, of total: Int64?, _ json: inout JSONBytes) {
        json.put(",\"received\":")
        json.put(received)
        guard let total else { return }
        json.put(",\"total\":")
        json.put(total)
        guard total > 0 else { return }
        // The percentage with two decimals, computed in integers.
        let product = min(received, total).multipliedFullWidth(by: 10_000)
        let hundredths = total.dividingFullWidth(product).quotient
        json.put(",\"percent\":")
        json.put(hundredths / 100)
        json.put(UInt8(ascii: "."))
        json.put(UInt8(ascii: "0") + UInt8(hundredths / 10 % 10))
        json.put(UInt8(ascii: "0") + UInt8(hundredths % 10))
    }

    private func putCached(
        _ key: CacheKey, _ facts: EntryFacts, _ details: EntryDetails?, _ json: inout JSONBytes
    ) {
        json.put(",\"path\":\"")
        pathPrefix.withUnsafeBytes { json.put($0) }
        json.put(key)
        json.put("\",\"size\":")
        json.put(facts.size)
        put(
            ImageShape(
                mediaType: facts.mediaType, width: facts.width, height: facts.height,
                orientation: facts.orientation), &json)
        if let details { putDetails(details, facts, &json) }
    }

    private func put(_ shape: ImageShape, _ json: inout JSONBytes) {
        json.put(",\"mediaType\":\"")
        json.put(shape.mediaType.literal)
        json.put("\"")
        guard let width = shape.width, let height = shape.height else { return }
        json.put(",\"width\":")
        json.put(width)
        json.put(",\"height\":")
        json.put(height)
        guard shape.orientation != .upright else { return }
        json.put(",\"orientation\":")
        json.put(Int(shape.orientation.rawValue))
    }

    private func putDetails(
        _ details: EntryDetails, _ facts: EntryFacts, _ json: inout JSONBytes
    ) {
        if let digest = details.sha256 {
            json.put(",\"sha256\":\"")
            json.putEscaped(digest.description)
            json.put("\"")
        }
        if details.names > 1 {
            json.put(",\"names\":")
            json.put(details.names)
        }
        if let source = details.source {
            json.put(",\"sourceURL\":\"")
            json.putEscaped(source)
            json.put("\"")
        }
        json.put(",\"fetchedAt\":")
        json.put(facts.fetchedAt.rawValue)
        if let time = facts.freshUntil {
            json.put(",\"freshUntil\":")
            json.put(time.rawValue)
        }
        json.put(",\"lastUsedAt\":")
        json.put(facts.lastUsedAt.unixTime.rawValue)
        if let origin = details.origin { put(origin, &json) }
    }

    private func put(_ origin: OriginDetails, _ json: inout JSONBytes) {
        if let tag = origin.entityTag {
            json.put(",\"etag\":\"")
            json.putEscaped(tag)
            json.put("\"")
        }
        if let time = origin.lastModified {
            json.put(",\"modified\":")
            json.put(time.rawValue)
        }
        if origin.isStrict { json.put(",\"strict\":true") }
        if origin.isRuled { json.put(",\"freshByRule\":true") }
        if let redirect = origin.redirect {
            json.put(",\"redirect\":\"")
            json.putEscaped(redirect)
            json.put("\"")
        }
        if origin.isFromStore { json.put(Self.fromStore) }
    }

    private func putPin(_ isPinned: Bool, _ json: inout JSONBytes) {
        json.put(",\"pinned\":")
        json.put(isPinned ? "true" : "false")
    }
}
