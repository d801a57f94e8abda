@testable import HTTPCaching

extension ResponseHead {
    /// Creates a head of lines, given without their line ends.
    init(_ lines: String...) {
        self.init()
        for line in lines { takeOpen(line) }
        takePending()
    }

    /// The head of a 200 with these fields.
    static func ok(_ fields: String...) -> ResponseHead {
        var head = ResponseHead("HTTP/1.1 200 OK")
        for field in fields { head.take(text: field) }
        return head
    }

    /// Adds a line that no other line continues.
    mutating func take(text line: String) {
        takeOpen(line)
        takePending()
    }

    private mutating func takeOpen(_ line: String) {
        Array((line + "\r\n").utf8).withUnsafeBytes { _ = take($0) }
    }
}
