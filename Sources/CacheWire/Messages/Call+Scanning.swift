/// Parses a `Fetch` with many URLs ten times as fast as a JSON decoder:
///
///     {"method":"io.cached.Cache.Fetch","parameters":{"urls":["https://…","https://…"],…},"more":true}
///
/// Any other message is left to the JSON decoder, which would return the same result for this one.
extension Call where Parameters == Methods.Fetch.Parameters {
    /// `nil` unless the message has exactly this form.
    package init?(scanning message: UnsafeRawBufferPointer) {
        self.init(.fetch, parameters: nil)
        var scanner = JSONScanner(bytes: message)
        var found: String?
        let isObject = scanner.members { name, scanner in
            switch scanner.text(at: name) {
            // If the method is another one, the parameters are not scanned.
            case "method": setOnce(&found, scanner.text()) && found == method
            case "parameters": setOnce(&parameters, Parameters(scanning: &scanner))
            case "oneway": setOnce(&oneway, scanner.boolean())
            case "more": setOnce(&more, scanner.boolean())
            default: false
            }
        }
        guard isObject, scanner.isAtEnd, found != nil, parameters != nil else { return nil }
    }
}

extension Methods.Fetch.Parameters {
    fileprivate init?(scanning scanner: inout JSONScanner) {
        self.init(urls: [])
        var urls: [String]?
        let isObject = scanner.members { name, scanner in
            switch scanner.text(at: name) {
            case "urls": setOnce(&urls, scanner.strings()?.map { scanner.text(at: $0) })
            case "priority":
                setOnce(&priority, scanner.text().flatMap { Priority(rawValue: $0) })
            case "refresh": setOnce(&refresh, scanner.boolean())
            case "wait": setOnce(&wait, scanner.boolean())
            case "sha256": setOnce(&sha256, scanner.text())
            default: false
            }
        }
        guard isObject, let urls else { return nil }
        self.urls = urls
    }
}
