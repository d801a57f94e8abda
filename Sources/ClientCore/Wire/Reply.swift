/// A reply of the daemon (varlink.org, "Method Reply"), as far as a client needs it.
struct Reply {
    private(set) var events: [Event] = []
    /// All texts, each with a NUL at its end.
    private(set) var texts: [UInt8] = []
    private(set) var continues = false
    /// Where the name of an error begins among the texts.
    private(set) var error: Int?
    /// 0 normal, 1 warning, 2 critical; `nil` if the reply reports none.
    private(set) var pressure: Int32?

    /// `nil` if the message is not a reply.
    init?(_ message: UnsafeRawBufferPointer) {
        var reader = JSONReader(message)
        let isObject = reader.members { reader, name in
            if reader.matches(name, "parameters") { return parameters(&reader) }
            if reader.matches(name, "continues") {
                guard let value = reader.boolean() else { return false }
                continues = value
                return true
            }
            if reader.matches(name, "error") {
                error = reader.text(into: &texts)
                return error != nil
            }
            return reader.skip()
        }
        guard isObject, reader.isAtEnd else { return nil }
    }

    private mutating func parameters(_ reader: inout JSONReader) -> Bool {
        reader.members { reader, name in
            if reader.matches(name, "items") { return reader.elements { item(&$0) } }
            if reader.matches(name, "item") { return item(&reader) }
            if reader.matches(name, "pressure") {
                guard let level = reader.string() else { return false }
                pressure =
                    reader.matches(level, "critical")
                    ? 2 : reader.matches(level, "warning") ? 1 : 0
                return true
            }
            return reader.skip()
        }
    }

    private mutating func item(_ reader: inout JSONReader) -> Bool {
        var event = Event()
        var isKnown = false
        let isObject = reader.members { reader, name in
            if reader.matches(name, "state") {
                guard let state = reader.string() else { return false }
                isKnown = true
                if reader.matches(state, "cached") {
                    event.state = .cached
                } else if reader.matches(state, "inFlight") {
                    event.state = .inFlight
                } else {
                    return reader.matches(state, "missing")
                }
                return true
            }
            return member(name, &event, &reader)
        }
        guard isObject, isKnown, event.url != nil else { return false }
        if event.state == .cached {
            guard let path = event.path, texts[path] == UInt8(ascii: "/") else { return false }
            // While it is refreshed, the other numbers are those of the new version.
            if event.size >= 0 { (event.received, event.total) = (event.size, event.size) }
        }
        if event.state == .missing, event.kind != nil { event.state = .failed }
        events.append(event)
        return true
    }

    private mutating func member(
        _ name: Range<Int>, _ event: inout Event, _ reader: inout JSONReader
    ) -> Bool {
        if reader.matches(name, "url") { return take(&event.url, &reader) }
        if reader.matches(name, "path") { return take(&event.path, &reader) }
        if reader.matches(name, "mediaType") { return take(&event.mediaType, &reader) }
        if reader.matches(name, "received") { return take(&event.received, &reader) }
        if reader.matches(name, "total") { return take(&event.total, &reader) }
        if reader.matches(name, "size") { return take(&event.size, &reader) }
        if reader.matches(name, "width") { return take(&event.width, &reader) }
        if reader.matches(name, "height") { return take(&event.height, &reader) }
        if reader.matches(name, "failure") { return failure(&event, &reader) }
        if reader.matches(name, "phase") { return reader.string() != nil }
        return reader.skip()
    }

    private mutating func failure(_ event: inout Event, _ reader: inout JSONReader) -> Bool {
        let isObject = reader.members { reader, name in
            if reader.matches(name, "kind") { return take(&event.kind, &reader) }
            if reader.matches(name, "message") { return take(&event.message, &reader) }
            if reader.matches(name, "httpStatus") { return take(&event.httpStatus, &reader) }
            if reader.matches(name, "retryAt") { return take(&event.retryAt, &reader) }
            return reader.skip()
        }
        guard isObject, let kind = event.kind, event.message != nil else { return false }
        return texts[kind] != 0
    }

    private mutating func take(_ text: inout Int?, _ reader: inout JSONReader) -> Bool {
        text = reader.text(into: &texts)
        return text != nil
    }

    private func take(_ number: inout Int64, _ reader: inout JSONReader) -> Bool {
        guard let value = reader.integer(), value >= 0 else { return false }
        number = value
        return true
    }

    private func take(_ number: inout Int32, _ reader: inout JSONReader) -> Bool {
        guard let value = reader.integer(), value >= 0 else { return false }
        number = Int32(clamping: value)
        return true
    }
}
