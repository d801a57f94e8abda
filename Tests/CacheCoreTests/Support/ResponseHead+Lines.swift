@testable import CacheCore

extension ResponseHead {
    /// A head of these lines, without their ends.
    init(_ lines: String...) {
        self.init()
        for line in lines { takeOpen(line) }
        takePending()
    }

    /// The same for a 200.
    static func ok(_ fields: String...) -> ResponseHead {
        var head = ResponseHead("HTTP/1.1 200 OK")
        for field in fields { head.take(text: field) }
        return head
    }

    /// Takes a line that no other goes on with.
    mutating func take(text line: String) {
        takeOpen(line)
        takePending()
    }

    private mutating func takeOpen(_ line: String) {
        Array((line + "\r\n").utf8).withUnsafeBytes { _ = take($0) }
    }
}

extension Sample {
    /// A response that took no time.
    static let atOnce = RequestTimes(sent: now, received: now)

    /// `seconds` from ``now``, as a field says it.
    static func date(_ seconds: Int64) -> String { HTTPDate.format(now + seconds) }
}
