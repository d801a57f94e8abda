import CacheWire
import NIOCore
import NIOHTTP1

/// Answers the page: files, questions, actions and images. Used on the event loop only.
final class Gallery: Responder {
    let daemon: DaemonClient
    private let rules: AccessRules
    private var views: [String: View] = [:]
    let images: ImageFolder
    private let thumbnails: Thumbnails
    private let figures: Figures
    private let inventory: Inventory
    /// Called when the first page is there, and when the last one has gone.
    var onViews: ((_ areThere: Bool) -> Void)?

    init(_ daemon: DaemonClient, token: Token, port: Int) {
        self.daemon = daemon
        images = ImageFolder(daemon)
        thumbnails = Thumbnails(daemon, images)
        rules = AccessRules(token: token, port: port)
        figures = Figures(daemon)
        inventory = Inventory(daemon)
        daemon.onChange = { [weak self] in self?.daemonChanged() }
        figures.onEvent = { [weak self] event, data in
            self?.views.values.forEach { $0.events?.send(event, data) }
        }
        figures.onChangedSet = { [weak self] in self?.views.values.forEach { $0.setChanged() } }
        daemonChanged()
    }

    private func daemonChanged() {
        if let place = daemon.place { images.directory = place.directory }
        figures.daemonChanged()
        for view in views.values { view.daemonChanged() }
    }

    // MARK: Requests

    func refusal(of head: HTTPRequestHead) -> Refusal? { rules.refusal(of: head) }

    func respond(to request: HTTPRequest, _ then: @escaping (Response) -> Void) {
        guard let name = rules.token.rest(of: request.path) else {
            return then(.refusal(.nothingHere))
        }
        guard let query = Query(request.query) else { return then(.refusal(.query)) }
        do throws(Refusal) {
            if request.head.method == .POST {
                try act(name, request, then)
            } else {
                try show(name, query, request, then)
            }
        } catch {
            then(.refusal(error))
        }
    }

    private func show(
        _ name: Substring, _ query: Query, _ request: HTTPRequest,
        _ then: @escaping (Response) -> Void
    ) throws(Refusal) {
        if let file = Page.file(name) {
            var response = Response(type: file.type, .bytes(file.bytes))
            response.headers.add(name: "Cache-Control", value: "no-store")
            return then(response)
        }
        if name.hasPrefix("image/") {
            return try images.respond(to: request, key: name.dropFirst(6), then)
        }
        if name.hasPrefix("partial/") {
            return then(
                try images.partial(of: name.dropFirst(8), as: query["type"], to: request))
        }
        switch name {
        case "events": then(events(try view(query)))
        case "list": try view(query).list(try ListQuery(query), then)
        case "items": try view(query).items(try Range(query), then)
        case "info": try info(query, then)
        case "hosts": inventory.answer(then)
        case "thumbnail": try thumbnails.respond(to: request, query, then)
        default: throw .nothingHere
        }
    }

    // MARK: Views

    /// The view that a request names. It exists as long as its event stream, or a while for one that has none yet.
    private func view(_ query: Query) throws(Refusal) -> View {
        guard let name = query["view"] else { throw .query }
        return try view(named: name)
    }

    func view(named name: String) throws(Refusal) -> View {
        if let view = views[name] { return view }
        guard View.isName(name) else { throw .query }
        guard views.count < View.limit else { throw .tooBusy }
        let view = View(daemon)
        views[name] = view
        view.onEnd = { [weak self] in
            self?.views[name] = nil
            self?.countPages()
        }
        return view
    }

    private func events(_ view: View) -> Response {
        let stream = EventStream()
        var response = Response(type: "text/event-stream", .events(stream))
        response.headers.add(name: "Cache-Control", value: "no-store")
        view.attach(stream)
        daemon.loop.assumeIsolated().execute { [self] in
            view.greet()
            figures.greet(stream)
            countPages()
        }
        return response
    }

    private func countPages() {
        let count = views.values.count { $0.events != nil }
        figures.isWatched = count > 0
        onViews?(count > 0)
    }
}
