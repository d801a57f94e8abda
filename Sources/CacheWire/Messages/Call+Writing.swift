extension Call {
    /// The encoded message, written by hand if possible.
    func message() throws(EncodingError) -> [UInt8] {
        if let parameters = parameters as? any URLListParameters,
            let message = try written(parameters)
        {
            return message
        }
        return try Message.encode(self)
    }

    private func written(_ parameters: some URLListParameters) throws(EncodingError) -> [UInt8]? {
        var few = parameters
        few.urls = []
        var call = Call<_>(method, few)
        (call.oneway, call.more, call.upgrade) = (oneway, more, upgrade)
        return try call.message(naming: parameters.urls)
    }
}

extension Call where Parameters: URLListParameters {
    fileprivate init(_ method: String, _ parameters: Parameters) {
        (self.method, self.parameters) = (method, parameters)
    }

    /// Inserts URLs into the encoded call, ten times as fast as an encoder. Returns `nil` if any
    /// URL needs JSON escapes (RFC 8259 §7).
    fileprivate func message(naming urls: [String]) throws(EncodingError) -> [UInt8]? {
        let frame = try Message.encode(self)
        // The pattern cannot be part of a string value, in which the quotes would be escaped.
        guard urls.allSatisfy(\.isPlain), let none = frame.firstRange(of: #""urls":[]"#.utf8) else {
            return nil
        }
        var message: [UInt8] = []
        message.reserveCapacity(frame.count + urls.reduce(0) { $0 + $1.utf8.count + 3 })
        message += frame[..<(none.upperBound - 1)]
        for (number, url) in urls.enumerated() {
            if number > 0 { message.append(UInt8(ascii: ",")) }
            message.append(UInt8(ascii: "\""))
            message += url.utf8
            message.append(UInt8(ascii: "\""))
        }
        message += frame[(none.upperBound - 1)...]
        return message
    }
}

extension String {
    /// Whether the text needs no escapes in JSON.
    fileprivate var isPlain: Bool {
        utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
