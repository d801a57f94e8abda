import CacheWire
import ClientCore
import Glibc
import NIOCore
import NIOHTTP1

/// Serves images to programs that can only use URLs. It serves what an application has signed and nothing else; the daemon
/// downloads what is missing, by its own rules about addresses. Used on the event loop only.
final class ImageFace: Responder {
    private let daemon: DaemonClient
    private let signature: Signature
    /// The values of `Host` that lead here.
    private let hosts: Set<String>
    private let images: ImageFolder
    /// The numbers of requests that wait for downloads, by the site of the image.
    private var waiting: [String: Int] = [:]

    /// The greatest number of requests that wait for downloads from one site, and in all. So the slow images of one feed
    /// keep nobody from those of others.
    private static let siteLimit = 64
    private static let waitingLimit = 256
    /// How long each of them waits.
    private static let patience = TimeAmount.seconds(25)

    init(_ daemon: DaemonClient, _ signature: Signature, hosts: [String], port: Int) {
        self.daemon = daemon
        images = ImageFolder(daemon)
        self.signature = signature
        self.hosts = Set(hosts).union(["127.0.0.1:\(port)", "localhost:\(port)"])
        daemon.onChange = { [weak self] in self?.daemonChanged() }
        daemonChanged()
    }

    /// While no daemon answers, the images stay where they were.
    private func daemonChanged() {
        if let place = daemon.place { images.directory = place.directory }
    }

    func refusal(of head: HTTPRequestHead) -> Refusal? {
        guard let host = head.headers.only("host"), hosts.contains(host) else {
            return .foreignHost
        }
        return head.method == .GET || head.method == .HEAD ? nil : .method
    }

    func respond(to request: HTTPRequest, _ then: @escaping (Response) -> Void) {
        do throws(Refusal) {
            let signed = try SignedRequest(request, signature)
            if let file = images.open(signed.name) {
                if file.freshUntil > time(nil) {
                    return then(response(file, signed, request.head))
                }
                file.close()
            }
            guard !request.head.isForLater else { return fetchLater(signed, then) }
            try fetch(signed, request.head, then)
        } catch {
            then(.refusal(error))
        }
    }

    // MARK: Downloads

    /// Starts a download that nobody waits for.
    private func fetchLater(_ signed: SignedRequest, _ then: @escaping (Response) -> Void) {
        daemon.callAlone(
            Methods.Fetch.self, .init(urls: [signed.url], priority: .background, wait: false)
        ) { result in
            if case .failure(let error) = result { return then(.refusal(Refusal(error))) }
            var response = Response(.accepted, type: "text/plain", .bytes(ByteBuffer()))
            response.headers.add(name: "Preference-Applied", value: "respond-async")
            then(response)
        }
    }

    /// Waits for the download of an image that is missing or stale.
    private func fetch(
        _ signed: SignedRequest, _ head: HTTPRequestHead, _ then: @escaping (Response) -> Void
    ) throws(Refusal) {
        let site = signed.site
        guard waiting[site, default: 0] < Self.siteLimit,
            waiting.values.reduce(0, +) < Self.waitingLimit
        else { throw .tooBusy }
        waiting[site, default: 0] += 1
        daemon.connect { [self] connection in
            let wait = Wait { [self] outcome in
                waiting[site] = waiting[site].flatMap { $0 > 1 ? $0 - 1 : nil }
                connection?.close()
                answer(outcome, signed, head, then)
            }
            let timer = daemon.loop.assumeIsolated().scheduleTask(in: Self.patience) {
                wait.end(.failure(.slow))
            }
            guard let connection else {
                timer.cancel()
                return wait.end(.failure(.away))
            }
            connection.call(Methods.Fetch.self, .init(urls: [signed.url])) { result in
                timer.cancel()
                wait.end(result)
            }
        }
    }

    private func answer(
        _ outcome: CallResult, _ signed: SignedRequest, _ head: HTTPRequestHead,
        _ then: @escaping (Response) -> Void
    ) {
        do throws(CallFailure) {
            let reply = try outcome.get()
            guard let item = try? reply.decoded(ItemList.self).items.first else {
                throw .misunderstood
            }
            guard item.state == .cached else { return then(.refusal(.absent(item.failure))) }
            images.open(signed.name) { [self] file in
                then(file.map { response($0, signed, head) } ?? .refusal(.absent(item.failure)))
            }
        } catch {
            then(.refusal(Refusal(error)))
        }
    }

    /// Ends once, with the first of two things.
    private final class Wait {
        private var then: ((CallResult) -> Void)?

        init(_ then: @escaping (CallResult) -> Void) {
            self.then = then
        }

        func end(_ result: CallResult) {
            let then = then
            self.then = nil
            then?(result)
        }
    }

    // MARK: Responses

    private func response(
        _ file: ServedFile, _ signed: SignedRequest, _ head: HTTPRequestHead
    ) -> Response {
        let now = time(nil)
        let fresh = file.freshUntil - now
        let rest = min(fresh, (signed.expiry ?? .max) - now)
        var response = file.response(to: head)
        response.headers.add(
            name: "Cache-Control", value: rest > 0 ? "max-age=\(rest)" : "no-cache")
        // The page that shows the image is another site's.
        response.headers.replaceOrAdd(name: "Cross-Origin-Resource-Policy", value: "cross-origin")
        return response
    }
}

extension CallFailure {
    fileprivate static let slow = CallFailure(
        message: "the download takes long; try again", isSlow: true)
}

extension HTTPRequestHead {
    /// Whether the client asks for the image to be there later. RFC 7240 §4.1.
    fileprivate var isForLater: Bool {
        guard method == .HEAD else { return false }
        return headers[canonicalForm: "prefer"].contains { preference in
            preference.prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace }
                == "respond-async"
        }
    }
}

extension Refusal {
    fileprivate init(_ failure: CallFailure) {
        self.init(failure.isSlow ? .gatewayTimeout : .serviceUnavailable, failure.message)
    }

    /// An image that could not be downloaded. The message of the daemon can name addresses of its network, so it stays
    /// here.
    fileprivate static func absent(_ failure: Failure?) -> Refusal {
        switch failure?.httpStatus {
        case 404, 410: Refusal(.notFound, "the image does not exist")
        default:
            Refusal(.badGateway, "the image could not be downloaded: \(failure?.kind ?? "removed")")
        }
    }
}
