internal import ClientCore

extension Item {
    /// Scans an object with known members, each at most once; `nil` for any other object.
    init?(scanning scanner: inout JSONScanner) {
        self.init(url: "", key: "", state: .missing)
        var (url, key): (String?, String?)
        var state: State?
        let isObject = scanner.members { name, scanner in
            switch scanner.text(at: name) {
            case "url": setOnce(&url, scanner.text())
            case "key": setOnce(&key, scanner.text())
            case "state": setOnce(&state, scanner.text().flatMap { State(rawValue: $0) })
            case "phase": setOnce(&phase, scanner.text().flatMap { Phase(rawValue: $0) })
            case "received": setOnce(&received, scanner.count())
            case "total": setOnce(&total, scanner.count())
            case "percent": setOnce(&percent, scanner.decimal())
            case "path": setOnce(&path, scanner.text())
            case "failure": setOnce(&failure, Failure(scanning: &scanner))
            case let name: takeImage(name, &scanner)
            }
        }
        guard isObject, let url, let key, let state else { return nil }
        (self.url, self.key, self.state) = (url, key, state)
    }

    private mutating func takeImage(_ name: String, _ scanner: inout JSONScanner) -> Bool {
        switch name {
        case "size": setOnce(&size, scanner.count())
        case "mediaType": setOnce(&mediaType, scanner.text())
        case "width": setOnce(&width, scanner.count())
        case "height": setOnce(&height, scanner.count())
        case "orientation": setOnce(&orientation, scanner.count())
        case "sha256": setOnce(&sha256, scanner.text())
        case "names": setOnce(&names, scanner.count())
        case "sourceURL": setOnce(&sourceURL, scanner.text())
        case "rank": setOnce(&rank, scanner.text().flatMap { Rank(rawValue: $0) })
        case "standIn": setOnce(&standIn, scanner.text())
        case "fetchedAt": setOnce(&fetchedAt, scanner.count())
        case "freshUntil": setOnce(&freshUntil, scanner.count())
        case "lastUsedAt": setOnce(&lastUsedAt, scanner.count())
        case "etag": setOnce(&etag, scanner.text())
        case "modified": setOnce(&modified, scanner.count())
        case "strict": setOnce(&strict, scanner.boolean())
        case "redirect": setOnce(&redirect, scanner.text())
        case "pinned": setOnce(&pinned, scanner.boolean())
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
            case "kind": setOnce(&kind, scanner.text())
            case "message": setOnce(&message, scanner.text())
            case "httpStatus": setOnce(&httpStatus, scanner.count())
            case "retryAt": setOnce(&retryAt, scanner.count())
            default: false
            }
        }
        guard isObject, let kind, let message else { return nil }
        (self.kind, self.message) = (kind, message)
    }
}
