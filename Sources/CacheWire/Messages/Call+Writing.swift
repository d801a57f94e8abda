extension Call {
    /// The whole message, by whichever way.
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

    /// The message with these URLs in the place of none, written without an encoder at a tenth of the
    /// price; `nil` where one of them has anything to be escaped (RFC 8259 §7).
    fileprivate func message(naming urls: [String]) throws(EncodingError) -> [UInt8]? {
        let frame = try Message.encode(self)
        // Quotes inside of a text would have been escaped.
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
    /// It stands in JSON as it is.
    fileprivate var isPlain: Bool {
        utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
