import CacheWire
import NIOCore

/// The actions of the page.
extension Gallery {
    func act(
        _ name: Substring, _ request: HTTPRequest, _ then: @escaping (Response) -> Void
    ) throws(Refusal) {
        switch name {
        case "visible": try show(try decoded(request), then)
        case "fetch": fetch(try decoded(request), then)
        case "pin": pin(try decoded(request), then)
        case "remove": remove(try decoded(request), then)
        case "verify": try verify(try decoded(request), then)
        case "open": try open(try decoded(request), then)
        default: throw .nothingHere
        }
    }

    private func decoded<Body: Decodable>(_ request: HTTPRequest) throws(Refusal) -> Body {
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
        daemon.call(Methods.Status.self, parameters) { [self] result in
            do throws(CallFailure) {
                let reply = try result.get()
                guard let item = try? reply.decoded(ItemList.self).items.first else {
                    throw .misunderstood
                }
                copies(of: item, then)
            } catch {
                then(.failure(error))
            }
        }
    }
}

extension Gallery {
    /// Answers with an item and with others that have the same bytes.
    private func copies(of item: Item, _ then: @escaping (Response) -> Void) {
        guard let digest = item.sha256 else { return then(.json { $0.member("item", item) }) }
        daemon.callAlone(Methods.List.self, .init(limit: 50, sha256: digest)) { result in
            let found = (try? result.get().decoded(Methods.List.Reply.self).items) ?? []
            then(
                .json { json in
                    json.member("item", item)
                    json.member("copies", found.filter { $0.key != item.key })
                })
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
