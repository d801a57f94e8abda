extension Item {
    /// Takes an object of known members, each there once; `nil` for any other.
    init?(scanning scanner: inout JSONScanner) {
        self.init(url: "", key: "", state: .missing)
        var (url, key): (String?, String?)
        var state: State?
        let isObject = scanner.members { name, scanner in
            switch scanner.text(at: name) {
            case "url": fill(&url, scanner.text())
            case "key": fill(&key, scanner.text())
            case "state": fill(&state, scanner.text().flatMap { State(rawValue: $0) })
            case "phase": fill(&phase, scanner.text().flatMap { Phase(rawValue: $0) })
            case "received": fill(&received, scanner.integer())
            case "total": fill(&total, scanner.integer())
            case "percent": fill(&percent, scanner.decimal())
            case "path": fill(&path, scanner.text())
            case "failure": fill(&failure, Failure(scanning: &scanner))
            case let name: takeImage(name, &scanner)
            }
        }
        guard isObject, let url, let key, let state else { return nil }
        (self.url, self.key, self.state) = (url, key, state)
    }

    private mutating func takeImage(_ name: String, _ scanner: inout JSONScanner) -> Bool {
        switch name {
        case "size": fill(&size, scanner.integer())
        case "mediaType": fill(&mediaType, scanner.text())
        case "width": fill(&width, scanner.integer())
        case "height": fill(&height, scanner.integer())
        case "sha256": fill(&sha256, scanner.text())
        case "fetchedAt": fill(&fetchedAt, scanner.integer())
        case "freshUntil": fill(&freshUntil, scanner.integer())
        case "lastUsedAt": fill(&lastUsedAt, scanner.integer())
        case "pinned": fill(&pinned, scanner.boolean())
        default: false
        }
    }
}

extension Failure {
    fileprivate init?(scanning scanner: inout JSONScanner) {
        self.init(kind: "", message: "")
        var (kind, message): (String?, String?)
        let isObject = scanner.members { name, scanner in
            switch scanner.text(at: name) {
            case "kind": fill(&kind, scanner.text())
            case "message": fill(&message, scanner.text())
            case "httpStatus": fill(&httpStatus, scanner.integer())
            case "retryAt": fill(&retryAt, scanner.integer())
            default: false
            }
        }
        guard isObject, let kind, let message else { return nil }
        (self.kind, self.message) = (kind, message)
    }
}
