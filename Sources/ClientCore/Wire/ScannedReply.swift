/// The parts of a daemon's reply that clients need (varlink.org, "Method Reply").
package struct ScannedReply: Sendable {
    package private(set) var events: [Event] = []
    /// All texts, each with a NUL at its end.
    package private(set) var texts: [UInt8] = []
    private(set) var continues = false
    /// The start of an error's name among the texts; `nil` if there is no error.
    package private(set) var error: Int?
    /// The start of the position at which a list continues, among the texts; `nil` at the end of the list.
    package private(set) var after: Int?
    /// 0 normal, 1 warning, 2 critical; `nil` if the reply reports none.
    private(set) var pressure: Int32?

    /// Whether the daemon refused the call because this user may not make it.
    var isRefused: Bool {
        guard let error else { return false }
        return text(at: error).elementsEqual(
            StaticText.bytes("org.varlink.service.PermissionDenied"))
    }

    /// A text without the NUL at its end.
    func text(at start: Int) -> ArraySlice<UInt8> { texts[start...].prefix { $0 != 0 } }

    /// Makes a failure of a cached image that the program cannot decode.
    mutating func refuse(at position: Int) {
        events[position].state = .failed
        events[position].kind = append(StaticText.bytes("notAccepted"))
        let type = events[position].mediaType.map { Array(text(at: $0)) } ?? []
        events[position].message = append(
            StaticText.bytes("the image is ") + type
                + StaticText.bytes(", which the request does not accept; it stays cached"))
    }

    private mutating func append(_ text: [UInt8]) -> Int {
        let start = texts.count
        texts += text + [0]
        return start
    }

    /// `nil` if the message is not a reply.
    init?(_ message: UnsafeRawBufferPointer) {
        var scanner = JSONScanner(message)
        let isObject = scanner.presentMembers { name, scanner in
            if scanner.matches(name, "parameters") { return parameters(&scanner) }
            if scanner.matches(name, "continues") {
                guard let value = scanner.boolean() else { return false }
                continues = value
                return true
            }
            if scanner.matches(name, "error") {
                error = scanner.text(into: &texts)
                return error != nil
            }
            return scanner.skip()
        }
        guard isObject, scanner.isAtEnd else { return nil }
    }

    /// The parameters of a reply alone; `nil` if they are not an object.
    package init?(parameters: UnsafeRawBufferPointer) {
        var scanner = JSONScanner(parameters)
        guard self.parameters(&scanner), scanner.isAtEnd else { return nil }
    }

    private mutating func parameters(_ scanner: inout JSONScanner) -> Bool {
        scanner.presentMembers { name, scanner in
            if scanner.matches(name, "items") { return scanner.elements { item(&$0) } }
            if scanner.matches(name, "item") { return item(&scanner) }
            if scanner.matches(name, "removed") { return scanner.elements { removal(&$0) } }
            if scanner.matches(name, "after") {
                after = scanner.text(into: &texts)
                return after != nil
            }
            if scanner.matches(name, "pressure") {
                guard let level = scanner.string() else { return false }
                pressure =
                    scanner.matches(level, "critical")
                    ? 2 : scanner.matches(level, "warning") ? 1 : 0
                return true
            }
            return scanner.skip()
        }
    }

    /// The key of an image that is no longer cached or in flight.
    private mutating func removal(_ scanner: inout JSONScanner) -> Bool {
        var event = Event()
        guard take(&event.key, &scanner) else { return false }
        events.append(event)
        return true
    }

    private mutating func item(_ scanner: inout JSONScanner) -> Bool {
        var event = Event()
        var isKnown = false
        let isObject = scanner.presentMembers { name, scanner in
            if scanner.matches(name, "state") {
                guard let state = scanner.string() else { return false }
                isKnown = true
                if scanner.matches(state, "cached") {
                    event.state = .cached
                } else if scanner.matches(state, "inFlight") {
                    event.state = .inFlight
                } else {
                    return scanner.matches(state, "missing")
                }
                return true
            }
            return member(name, &event, &scanner)
        }
        guard isObject, isKnown, event.url != nil else { return false }
        if event.state == .cached {
            guard let path = event.path, isOfImage(path) else { return false }
            // During a refresh, the other numbers are those of the new version.
            if event.size >= 0 { (event.received, event.total) = (event.size, event.size) }
        }
        if event.state == .missing, event.kind != nil { event.state = .failed }
        events.append(event)
        return true
    }

    /// Whether a path is absolute and ends with the name of an image. A daemon can name any path, and a program would
    /// read that file.
    private func isOfImage(_ path: Int) -> Bool {
        let text = text(at: path)
        guard text.first == UInt8(ascii: "/"), text.count > ImageName.length,
            text.dropLast(ImageName.length).last == UInt8(ascii: "/")
        else { return false }
        return text.suffix(ImageName.length).withUnsafeBytes { ImageName(text: $0) != nil }
    }

    private mutating func member(
        _ name: Range<Int>, _ event: inout Event, _ scanner: inout JSONScanner
    ) -> Bool {
        if scanner.matches(name, "url") { return take(&event.url, &scanner) }
        if scanner.matches(name, "key") { return take(&event.key, &scanner) }
        if scanner.matches(name, "phase") { return phase(&event, &scanner) }
        if scanner.matches(name, "path") { return take(&event.path, &scanner) }
        if scanner.matches(name, "mediaType") { return take(&event.mediaType, &scanner) }
        if scanner.matches(name, "received") { return take(&event.received, &scanner) }
        if scanner.matches(name, "total") { return take(&event.total, &scanner) }
        if scanner.matches(name, "size") { return take(&event.size, &scanner) }
        if scanner.matches(name, "width") { return take(&event.width, &scanner) }
        if scanner.matches(name, "height") { return take(&event.height, &scanner) }
        if scanner.matches(name, "freshUntil") { return take(&event.freshUntil, &scanner) }
        if scanner.matches(name, "pinned") {
            guard let value = scanner.boolean() else { return false }
            event.isPinned = value
            return true
        }
        if scanner.matches(name, "failure") { return failure(&event, &scanner) }
        return scanner.skip()
    }

    private func phase(_ event: inout Event, _ scanner: inout JSONScanner) -> Bool {
        guard let word = scanner.string() else { return false }
        for phase in Event.Phase.all where scanner.matches(word, phase.word) { event.phase = phase }
        return true
    }

    private mutating func failure(_ event: inout Event, _ scanner: inout JSONScanner) -> Bool {
        let isObject = scanner.presentMembers { name, scanner in
            if scanner.matches(name, "kind") { return take(&event.kind, &scanner) }
            if scanner.matches(name, "message") { return take(&event.message, &scanner) }
            if scanner.matches(name, "httpStatus") { return take(&event.httpStatus, &scanner) }
            if scanner.matches(name, "retryAt") { return take(&event.retryAt, &scanner) }
            return scanner.skip()
        }
        guard isObject, let kind = event.kind, event.message != nil else { return false }
        return texts[kind] != 0
    }

    private mutating func take(_ text: inout Int?, _ scanner: inout JSONScanner) -> Bool {
        text = scanner.text(into: &texts)
        return text != nil
    }

    private func take(_ number: inout Int64, _ scanner: inout JSONScanner) -> Bool {
        guard let value = scanner.integer(), value >= 0 else { return false }
        number = value
        return true
    }

    private func take(_ number: inout Int32, _ scanner: inout JSONScanner) -> Bool {
        guard let value = scanner.integer(), value >= 0 else { return false }
        number = Int32(clamping: value)
        return true
    }
}

extension JSONScanner {
    /// Scans an object. A member that is null counts as absent.
    fileprivate mutating func presentMembers(
        _ member: (Range<Int>, inout JSONScanner) -> Bool
    ) -> Bool {
        members { name, scanner in scanner.null() || member(name, &scanner) }
    }
}
