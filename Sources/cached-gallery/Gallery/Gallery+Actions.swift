import CacheWire
import NIOCore

/// What the page does.
extension Gallery {
    func act(
        _ name: Substring, _ request: Request, _ then: @escaping (Response) -> Void
    ) throws(Refusal) {
        switch name {
        case "visible": try show(try decoded(request), then)
        case "fetch": fetch(try decoded(request), then)
        case "pin": pin(try decoded(request), then)
        case "remove": remove(try decoded(request), then)
        default: throw .nothingHere
        }
    }

    private func decoded<Body: Decodable>(_ request: Request) throws(Refusal) -> Body {
        guard let body: Body = request.decoded() else { throw .body }
        return body
    }

    private struct Visible: Decodable {
        let view: String
        let urls: [String]
    }

    private func show(_ body: Visible, _ then: (Response) -> Void) throws(Refusal) {
        guard body.urls.count <= View.visibleLimit else { throw .body }
        try view(named: body.view).show(body.urls)
        then(.json { _ in })
    }

    private struct Fetch: Decodable {
        let urls: [String]
        let refresh: Bool?
    }

    private func fetch(_ body: Fetch, _ then: @escaping (Response) -> Void) {
        let parameters = Methods.Fetch.Parameters(
            urls: body.urls, refresh: body.refresh, wait: false)
        daemon.call(Methods.Fetch.self, parameters) { then(.passing($0)) }
    }

    private struct Pin: Decodable {
        let urls: [String]
        let pinned: Bool
    }

    private func pin(_ body: Pin, _ then: @escaping (Response) -> Void) {
        daemon.callAlone(Methods.Pin.self, .init(urls: body.urls, pinned: body.pinned)) {
            then(.passing($0))
        }
    }

    private struct URLs: Decodable {
        let urls: [String]
    }

    private func remove(_ body: URLs, _ then: @escaping (Response) -> Void) {
        daemon.callAlone(Methods.Remove.self, .init(urls: body.urls)) { then(.passing($0)) }
    }

    /// All that is known about one image.
    func info(_ query: Query, _ then: @escaping (Response) -> Void) throws(Refusal) {
        guard let text = query["url"] ?? query["key"] else { throw .query }
        let isURL = query["url"] != nil
        let parameters = Methods.Status.Parameters(
            urls: isURL ? [text] : [], details: true, keys: isURL ? nil : [text])
        daemon.call(Methods.Status.self, parameters) { result in
            do throws(CallFailure) {
                let reply = try result.get()
                guard let item = try? reply.decoded(ItemList.self).items.first else {
                    throw .misunderstood
                }
                then(.json { $0.member("item", item) })
            } catch {
                then(.failure(error))
            }
        }
    }
}

extension Response {
    /// The reply of the daemon, or its failure.
    static func passing(_ result: CallResult) -> Response {
        do throws(CallFailure) {
            return .json(try result.get().parameters)
        } catch {
            return .failure(error)
        }
    }
}
