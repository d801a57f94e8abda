import CacheCore
import CacheFetching
import CacheKey
import CacheValues
import CacheWire
import NIOCore

/// A `Fetch` that waits for downloads, and its replies. Any thread can write them.
///
/// The cache knows it as one waiter for all images with the same terms.
struct FetchCall: Sendable {
    let wanted: WantedSet
    /// The caller takes progress.
    let isStream: Bool
    /// The stream goes on when all images are decided.
    let follows: Bool
    /// The caller takes no image with another digest.
    let digest: ContentDigest?
    private let isRefresh: Bool
    private let client: ClientID
    /// An image may take the bytes of an entry with the digest. Its origin is not asked, so everybody would get the bytes
    /// that this client chose.
    private let mayAdopt: Bool
    private var current: [WaitTerms: WaiterID] = [:]
    /// Waiters that have ended, and whose outcomes are on their way.
    private var ending: Set<WaiterID> = []
    /// Waiters whose outcomes are not in a reply yet.
    private(set) var unreported: [WaiterID] = []
    /// Why images failed, from the outcomes so far.
    private var failures: [CacheKey: CacheValues.Failure] = [:]
    /// No download has to be waited for.
    private(set) var isDecided = false

    /// Requests the downloads that a call names. Returns the call if it waits for them; otherwise writes its reply.
    /// Any thread can call it.
    ///
    /// - Parameters:
    ///   - isManager: whether the client may decide which bytes an image has.
    ///   - predecessors: the waiters of the stream that this call replaces.
    static func begin(
        _ header: CallHeader, _ parameters: Methods.Fetch.Parameters, for client: ClientID,
        isManager: Bool, after predecessors: [WaiterID], in server: ServerContext,
        replyingTo output: inout ByteBuffer
    ) throws(WireError) -> FetchCall? {
        let isSilent = header.oneway == true
        let waits = parameters.wait != false && !isSilent
        var call = try FetchCall(header, parameters, for: client, isManager, in: server)
        guard !waits else {
            let groups = call.wanted.byTerms
            for (terms, requests) in groups.isEmpty ? [WaitTerms(priority: .normal): []] : groups {
                call.begin(requests, terms, after: predecessors, in: server)
            }
            call.isDecided = call.current.values.allSatisfy { server.cache.isSettled($0) }
            return call
        }
        // The digest is compared in the reply, which this caller does not wait for.
        guard call.digest == nil else {
            throw .invalidParameter(
                parameter: "sha256", reason: "it is compared only if the call waits for its reply")
        }
        let groups = call.wanted.byTerms.map { ($1, call.options($0)) }
        guard server.cache.fetchDetached(groups) else {
            throw .tooMany(limit: server.cache.detachedLimit)
        }
        if !isSilent { server.writeItems(call.wanted.urls, to: &output) }
        return nil
    }

    private init(
        _ header: CallHeader, _ parameters: Methods.Fetch.Parameters, for client: ClientID,
        _ isManager: Bool, in server: ServerContext
    ) throws(WireError) {
        guard parameters.urls != nil || parameters.wants != nil else {
            throw .invalidParameter(parameter: "urls", reason: "one of urls and wants is needed")
        }
        let usual = CacheFetching.Priority(parameters.priority ?? .normal)
        let urls = (parameters.urls ?? []).map {
            WantedSet.Element(url: server.named($0), terms: WaitTerms(priority: usual))
        }
        try WantedSet.check(parameters.wants)
        let wants = WantedSet.elements(parameters.wants, usual: usual, in: server)
        wanted = WantedSet(urls + wants)
        isStream = header.isStream
        follows = parameters.follow ?? false
        guard isStream || !follows else {
            throw .invalidParameter(parameter: "follow", reason: "it needs a call with more")
        }
        digest = try Self.digest(parameters.sha256)
        isRefresh = parameters.refresh ?? false
        self.client = client
        mayAdopt = isManager
    }

    private static func digest(_ text: String?) throws(WireError) -> ContentDigest? {
        guard let text else { return nil }
        guard let digest = ContentDigest(text) else {
            throw .invalidParameter(
                parameter: "sha256", reason: "it does not have 64 hexadecimal digits")
        }
        return digest
    }

    private func options(
        _ terms: WaitTerms, after predecessors: [WaiterID] = []
    ) -> FetchOptions {
        FetchOptions(
            priority: terms.priority, isRefresh: isRefresh, client: client,
            predecessors: predecessors, attempts: terms.attempts, deadline: terms.deadline,
            isHeld: true, digest: mayAdopt ? digest : nil)
    }

    /// Whether it names so many URLs that a pass over all of them would delay other clients.
    var isLong: Bool { wanted.count > 1000 }

    // MARK: Waiting

    /// The cache's names for this call.
    var waiters: [WaiterID] { Array(current.values) + Array(ending) }

    /// Whether nothing more is waited for, so that the call ends.
    var isOver: Bool { current.isEmpty && ending.isEmpty && !follows }

    private mutating func begin(
        _ requests: [ImageRequest], _ terms: WaitTerms, after others: [WaiterID],
        in server: ServerContext
    ) {
        current[terms] = server.cache.begin(requests, options(terms, after: others))
    }

    /// The keys of the images to be pinned.
    static func pins(_ wants: [Want]?, in server: ServerContext) -> [CacheKey] {
        (wants ?? []).filter { $0.pinned == true }
            .compactMap { server.named($0.url, by: $0.key).key }
    }

    /// These images could not be pinned.
    mutating func notPinned(_ failures: [CacheKey: CacheValues.Failure]) {
        self.failures.merge(failures) { $1 }
    }

    /// Lets the cache notify the observer of outcomes from now on.
    func complete(in server: ServerContext) {
        for waiter in current.values { server.cache.complete(waiter) }
    }

    /// All images with the same terms are decided.
    mutating func decided(_ outcome: Outcome) {
        ending.remove(outcome.waiter)
        current = current.filter { $0.value != outcome.waiter }
        failures.merge(outcome.failures) { $1 }
        if !follows { unreported.append(outcome.waiter) }
    }

    /// The call was answered, or is given up.
    func leave(in server: ServerContext) {
        for waiter in waiters { server.cache.leave(waiter) }
        for waiter in unreported { server.cache.reported(waiter) }
    }

    /// Whether the outcome of a waiter has not arrived yet.
    func waits(for waiter: WaiterID) -> Bool { waiters.contains(waiter) }

    // MARK: Changing the set

    /// A change of the set, as far as replies and subscriptions have to follow it.
    struct Change: Sendable {
        /// Texts that are not URLs are among them, for the reply.
        var new: [RequestedURL] = []
        var dropped: [CacheKey] = []
    }

    /// Changes the set. The waiters are announced to the cache as being changed, and have to be completed after it.
    mutating func adjust(
        _ parameters: Methods.Adjust.Parameters, in server: ServerContext
    ) -> Change {
        var change = Change()
        var leaving: [WaitTerms: [CacheKey]] = [:]
        for url in parameters.drop ?? [] {
            guard let key = server.named(url).key, let terms = wanted.remove(key) else {
                continue
            }
            leaving[terms, default: []].append(key)
            failures[key] = nil
            change.dropped.append(key)
        }
        drop(leaving, in: server)
        let pins = Self.pins(parameters.add, in: server)
        defer { if !pins.isEmpty { server.cache.pin(pins, true) { _ in } } }
        let wants = WantedSet.elements(parameters.add, in: server)
        let isNew = wants.map { want in want.url.valid.map { wanted[$0.key] == nil } ?? true }
        change.new = zip(wants, isNew).filter(\.1).map(\.0.url)
        add(WantedSet(wants).byTerms, in: server)
        return change
    }

    /// Asks again for images of the set, whose time may be over.
    mutating func retry(_ keys: [CacheKey], in server: ServerContext) {
        let elements = keys.compactMap { wanted[$0] }.map { element in
            var terms = element.terms
            terms.deadline = nil
            return WantedSet.Element(url: element.url, terms: terms)
        }
        add(WantedSet(elements).byTerms, in: server)
    }

    /// A download that goes on with other terms has its new waiter before it loses the old one.
    private mutating func add(
        _ groups: [WaitTerms: [ImageRequest]], in server: ServerContext
    ) {
        var leaving: [WaitTerms: [CacheKey]] = [:]
        for (terms, requests) in groups {
            let asked = requests.filter { request in
                let element = WantedSet.Element(
                    url: RequestedURL(request), terms: terms)
                let former = wanted.insert(element, request.key)
                failures[request.key] = nil
                guard let former, let waiter = current[former] else { return true }
                if former == terms { return !server.cache.has(waiter, request.key) }
                leaving[former, default: []].append(request.key)
                return true
            }
            let others = current.values.filter { $0 != current[terms] }
            if let waiter = current[terms], server.cache.keep(waiter) {
                server.cache.add(asked, options(terms, after: others), to: waiter)
            } else if !asked.isEmpty {
                if let waiter = current[terms] { ending.insert(waiter) }
                begin(asked, terms, after: others, in: server)
            }
        }
        drop(leaving, in: server)
    }

    private func drop(_ leaving: [WaitTerms: [CacheKey]], in server: ServerContext) {
        for (terms, keys) in leaving {
            if let waiter = current[terms] { server.cache.drop(keys, from: waiter) }
        }
    }

    // MARK: Replies

    /// A reply of a stream about some of its images as they are now.
    func writeItems(
        of urls: [RequestedURL], failures: [CacheKey: CacheValues.Failure] = [:],
        from server: ServerContext, to output: inout ByteBuffer
    ) {
        server.writeItems(
            urls, .announced, continues: true, failures: failures, digest: digest, to: &output)
    }

    /// The last reply of a stream that another call ends: all items as they are now.
    func writeLastReply(from server: ServerContext, to output: inout ByteBuffer) {
        guard isStream else { return }
        server.writeItems(wanted.urls, digest: digest, to: &output)
    }

    /// The last reply once all downloads have ended. Returns `false` if nothing was written, because a file has to be
    /// read.
    func writeReply(
        from server: ServerContext, mayReadFiles: Bool, to output: inout ByteBuffer
    ) -> Bool {
        guard !failures.values.contains(where: { $0.kind == .shuttingDown }) else {
            server.replies.write(Reply<NoParameters>(error: .shuttingDown), to: &output)
            return true
        }
        return server.writeItems(
            wanted.urls, isEnd: true, mayReadFiles: mayReadFiles, failures: failures,
            digest: digest, to: &output)
    }
}

extension WantedSet {
    /// Fails if a want has a number that makes no sense, or too many other URLs.
    static func check(_ wants: [Want]?) throws(WireError) {
        for want in wants ?? [] {
            for (name, number) in [("attempts", want.attempts), ("timeout", want.timeout)] {
                if let number, number < 1 {
                    throw .invalidParameter(parameter: name, reason: "it is 1 or more, or absent")
                }
            }
            guard want.also?.count ?? 0 <= Want.alsoLimit, want.also == nil || want.headers == nil
            else {
                throw .invalidParameter(
                    parameter: "also",
                    reason:
                        "at most \(Want.alsoLimit) URLs, and not together with headers, which are for one origin"
                )
            }
            if want.headers != nil { CoreDumps.forbid() }
        }
    }

    /// - Parameter usual: the priority of images without their own.
    static func elements(
        _ wants: [Want]?, usual: CacheFetching.Priority = .normal, in server: ServerContext
    ) -> [Element] {
        let now = ContinuousClock.now
        return (wants ?? []).map { want in
            let terms = WaitTerms(
                priority: want.priority.map { .init($0) } ?? usual, attempts: want.attempts,
                deadline: want.timeout.map { now + .milliseconds($0) })
            if let problem = want.problemOfHeaders {
                let failure = CacheValues.Failure(.invalidHeaders, problem)
                return Element(url: RequestedURL(want.url, .nothing(failure)), terms: terms)
            }
            let url = server.named(
                want.url, by: want.key, fields: want.fields, also: want.also ?? [])
            return Element(url: url, terms: terms)
        }
    }
}

extension CacheFetching.Priority {
    fileprivate init(_ priority: CacheWire.Priority) {
        switch priority {
        case .background: self = .background
        case .normal: self = .normal
        case .visible: self = .visible
        }
    }
}
