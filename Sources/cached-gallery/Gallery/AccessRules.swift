import NIOHTTP1

/// Which requests the gallery answers: those of its own page in a browser of the user who started it.
struct AccessRules {
    let token: Token
    /// The values of `Host` that lead here. A page of another site whose name was changed to this address has another
    /// one (DNS rebinding).
    private let hosts: [String]

    init(token: Token, port: Int) {
        self.token = token
        hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
    }

    /// Why a request is refused; `nil` if it is not.
    func refusal(of head: HTTPRequestHead) -> Refusal? {
        guard let host = head.headers.only("host"), hosts.contains(host) else {
            return .foreignHost
        }
        guard let rest = token.rest(of: head.uri.prefix { $0 != "?" }) else { return .nothingHere }
        guard [.GET, .HEAD, .POST].contains(head.method) else { return .method }
        guard isOwn(head, origin: "http://\(host)", isPage: rest.isEmpty) else {
            return .foreignSite
        }
        guard head.method == .POST else { return nil }
        return isJSON(head.headers.only("content-type")) ? nil : .bodyType
    }

    /// Whether this page sent the request, or a person who opened the page (Fetch Metadata Request Headers; Fetch
    /// Standard §3.2).
    private func isOwn(_ head: HTTPRequestHead, origin: String, isPage: Bool) -> Bool {
        let origins = head.headers["origin"]
        guard origins.allSatisfy({ $0 == origin }) else { return false }
        if head.method == .POST, origins.isEmpty { return false }
        switch head.headers.only("sec-fetch-site") {
        case nil: return head.headers["sec-fetch-site"].isEmpty
        case "same-origin", "none": return true
        default:
            // The file that opens the browser counts as another site, and so does a link in a terminal's window.
            return isPage && head.method != .POST
                && head.headers.only("sec-fetch-mode") == "navigate"
                && head.headers.only("sec-fetch-dest") == "document"
        }
    }

    private func isJSON(_ type: String?) -> Bool {
        type == "application/json" || type?.hasPrefix("application/json;") == true
    }
}
