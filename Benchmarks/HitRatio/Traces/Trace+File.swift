/// A line of a trace that cannot be read.
package struct MalformedLine: Error, CustomStringConvertible {
    let number: Int
    let text: String

    package var description: String {
        "line \(number) is not `SECONDS OBJECT BYTES`: \(text.prefix(80))"
    }
}

extension Trace {
    /// Reads a trace of lines `SECONDS OBJECT BYTES`. An object can be any text without spaces, such as a URL.
    package init(name: String, lines: some Sequence<String>) throws(MalformedLine) {
        var numbers: [Substring: Int] = [:]
        var requests: [Request] = []
        var start: UInt32?
        for (line, text) in lines.enumerated() where !text.isEmpty {
            let fields = text.split(separator: " ")
            guard fields.count == 3, let time = Double(fields[0]), time >= 0,
                let second = UInt32(exactly: time.rounded(.down)),
                let bytes = Int64(fields[2]), bytes > 0
            else { throw MalformedLine(number: line + 1, text: text) }
            let number = numbers[fields[1]] ?? numbers.count
            numbers[fields[1]] = number
            start = min(start ?? second, second)
            requests.append(Request(object: number, bytes: bytes, second: second))
        }
        let first = start ?? 0
        self.init(
            name: name,
            requests: requests.map {
                Request(object: $0.object, bytes: $0.bytes, second: $0.second - first)
            })
    }
}
