package import ClientCore

/// Parses a `Fetch` with many URLs ten times as fast as a JSON decoder, and an `Adjust`, which comes often:
///
///     {"method":"io.cached.Cache.Fetch","parameters":{"urls":["https://…","https://…"],…},"more":true}
///
/// Any other message is left to the JSON decoder, which would return the same result for this one.
extension Call where Parameters: ScannedParameters {
    /// `nil` unless the message has exactly this form.
    package init?(scanning message: UnsafeRawBufferPointer) {
        self.init(Parameters.method, parameters: nil)
        var scanner = JSONScanner(message)
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

/// Parameters that can be parsed without a decoder.
package protocol ScannedParameters: WireValue {
    static var method: MethodName { get }

    init?(scanning scanner: inout JSONScanner)
}

extension Methods.Fetch.Parameters: ScannedParameters {
    package static var method: MethodName { .fetch }

    package init?(scanning scanner: inout JSONScanner) {
        self.init()
        let isObject = scanner.members { name, scanner in
            switch scanner.text(at: name) {
            case "urls": setOnce(&urls, scanner.texts())
            case "wants": setOnce(&wants, scanner.wants())
            case "priority":
                setOnce(&priority, scanner.text().flatMap { Priority(rawValue: $0) })
            case "refresh": setOnce(&refresh, scanner.boolean())
            case "wait": setOnce(&wait, scanner.boolean())
            case "sha256": setOnce(&sha256, scanner.text())
            case "follow": setOnce(&follow, scanner.boolean())
            default: false
            }
        }
        guard isObject else { return nil }
    }
}

extension Methods.Adjust.Parameters: ScannedParameters {
    package static var method: MethodName { .adjust }

    package init?(scanning scanner: inout JSONScanner) {
        self.init()
        let isObject = scanner.members { name, scanner in
            switch scanner.text(at: name) {
            case "add": setOnce(&add, scanner.wants())
            case "drop": setOnce(&drop, scanner.texts())
            default: false
            }
        }
        guard isObject else { return nil }
    }
}

extension JSONScanner {
    fileprivate mutating func texts() -> [String]? {
        plainStrings()?.map { text(at: $0) }
    }

    fileprivate mutating func wants() -> [Want]? {
        var wants: [Want] = []
        let isArray = elements { scanner in
            var (url, key, priority): (String?, String?, Priority?)
            let isObject = scanner.members { name, scanner in
                switch scanner.text(at: name) {
                case "url": setOnce(&url, scanner.text())
                case "key": setOnce(&key, scanner.text())
                case "priority":
                    setOnce(&priority, scanner.text().flatMap { Priority(rawValue: $0) })
                default: false
                }
            }
            guard isObject, let url else { return false }
            wants.append(Want(url: url, key: key, priority: priority))
            return true
        }
        return isArray ? wants : nil
    }
}
