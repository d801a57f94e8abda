import CacheCore
import CacheKey
import CacheWire
import NIOCore

/// What became of a `Fetch` at its beginning.
enum BegunFetch {
    /// Nobody waits for it: the daemon itself holds the interest.
    case held([Target])
    /// Its interest is there and not complete, see ``Cache/complete(_:)``.
    case waiting(FetchCall)
}

/// `Fetch`, as far as any thread can do it.
extension Desk {
    /// Takes in a call, in the place of the connection's stream where there is one.
    func begin(
        _ header: CallHeader, _ parameters: Methods.Fetch.Parameters, for client: ClientID,
        after former: WaiterID?
    ) throws(WireError) -> BegunFetch {
        try Connection.admit(parameters.urls)
        let digest = try Self.digest(parameters.sha256)
        let waits = parameters.wait != false && header.oneway != true
        // Nobody would hear what came of it.
        guard waits || digest == nil else { throw .invalidParameter(parameter: "sha256") }
        let targets = parameters.urls.map { Target($0) }
        let wishes = targets.compactMap(\.valid)
        let options = FetchOptions(
            priority: .init(parameters.priority ?? .normal),
            isRefresh: parameters.refresh ?? false, client: client, predecessor: former)
        guard waits else {
            guard cache.prefetch(wishes, options) else {
                throw .tooMany(limit: cache.detachedLimit)
            }
            return .held(targets)
        }
        return .waiting(
            FetchCall(
                interest: cache.begin(wishes, options), targets: targets,
                isStream: header.more == true, digest: digest,
                subject: .named(header.more == true ? Self.urls(of: targets) : [:])))
    }

    private static func digest(_ text: String?) throws(WireError) -> ContentDigest? {
        guard let text else { return nil }
        guard let digest = ContentDigest(text) else { throw .invalidParameter(parameter: "sha256") }
        return digest
    }

    /// The keys of those that are URLs.
    static func urls(of targets: [Target]) -> [CacheKey: String] {
        let valid = targets.compactMap { $0.valid.map { ($0.key, $0.url.string) } }
        return Dictionary(valid, uniquingKeysWith: { first, _ in first })
    }

    /// How it stands with some of what a stream is about.
    func write(_ targets: [Target], of call: FetchCall, to output: inout ByteBuffer) {
        write(targets, .announced, continues: true, digest: call.digest, to: &output)
    }

    /// The last reply to a call that is decided.
    func write(_ call: FetchCall, _ outcome: Outcome, to output: inout ByteBuffer) {
        write(
            call.targets, isEnd: true, failures: outcome.failures, digest: call.digest, to: &output)
    }
}
