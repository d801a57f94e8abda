extension WireError: WireValue {
    private enum CodingKeys: String, CodingKey {
        case error, parameters, reason
    }

    /// The parameters of all errors. Each error has one of them or none.
    struct Parameters: Decodable, Sendable, Hashable {
        var limit: Int?
        var reason: String?
        var interface: String?
        var method: String?
        var parameter: String?
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let name = try container.decode(String.self, forKey: .error)
        self.init(name: name, parameters: Parameters())
        // The parameters of an unknown error can have any form.
        if case .unknown = self { return }
        let parameters = try container.decodeIfPresent(Parameters.self, forKey: .parameters)
        self.init(name: name, parameters: parameters ?? Parameters())
        switch self {
        case .invalidParameter(let parameter, _):
            self = .invalidParameter(
                parameter: parameter,
                reason: try container.decodeIfPresent(String.self, forKey: .reason))
        case .permissionDenied:
            self = .permissionDenied(
                reason: try container.decodeIfPresent(String.self, forKey: .reason))
        default: break
        }
    }

    public func write(to json: inout JSONText) {
        json.object { writeMembers(to: &$0) }
    }

    /// Writes the members of a reply with this error.
    func writeMembers(to json: inout JSONText) {
        json.member("error", name)
        json.member("parameters", parameters)
        // The standard gives these errors no such parameter, and some clients refuse unknown ones.
        switch self {
        case .invalidParameter(_, let reason), .permissionDenied(let reason):
            json.member("reason", reason)
        default: break
        }
    }

    /// If a parameter of a known error is missing, the error keeps its name.
    init(name: String, parameters: Parameters) {
        self =
            switch name {
            case "io.cached.Cache.TooMany": .tooMany(limit: parameters.limit ?? 0)
            case "io.cached.Cache.TooManyConnections":
                .tooManyConnections(limit: parameters.limit ?? 0)
            case "io.cached.Cache.NoStream": .noStream
            case "io.cached.Cache.ShuttingDown": .shuttingDown
            case "io.cached.Cache.MessageTooLarge": .messageTooLarge(limit: parameters.limit ?? 0)
            case "io.cached.Cache.InvalidMessage": .invalidMessage(reason: parameters.reason ?? "")
            case "org.varlink.service.InterfaceNotFound":
                .interfaceNotFound(interface: parameters.interface ?? "")
            case "org.varlink.service.MethodNotFound":
                .methodNotFound(method: parameters.method ?? "")
            case "org.varlink.service.MethodNotImplemented":
                .methodNotImplemented(method: parameters.method ?? "")
            case "org.varlink.service.InvalidParameter":
                .invalidParameter(parameter: parameters.parameter ?? "", reason: nil)
            case "org.varlink.service.PermissionDenied": .permissionDenied(reason: nil)
            case "org.varlink.service.ExpectedMore": .expectedMore
            default: .unknown(name: name)
            }
    }

    var parameters: Parameters {
        var parameters = Parameters()
        switch self {
        case .tooMany(let limit), .tooManyConnections(let limit), .messageTooLarge(let limit):
            parameters.limit = limit
        case .invalidMessage(let reason): parameters.reason = reason
        case .interfaceNotFound(let interface): parameters.interface = interface
        case .methodNotFound(let method), .methodNotImplemented(let method):
            parameters.method = method
        case .invalidParameter(let parameter, _): parameters.parameter = parameter
        case .noStream, .shuttingDown, .permissionDenied, .expectedMore, .unknown: break
        }
        return parameters
    }
}

extension WireError.Parameters: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.member("limit", limit)
            json.member("interface", interface)
            json.member("method", method)
            json.member("parameter", parameter)
            json.member("reason", reason)
        }
    }
}

extension WireError {
    /// The error to reply if the parameters of a call cannot be decoded. It names the invalid
    /// top-level parameter, or reports an invalid message if the call is not JSON.
    public init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(path: context.codingPath + [key], reason: context.debugDescription)
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            self.init(path: context.codingPath, reason: context.debugDescription)
        @unknown default:
            self = .invalidMessage(reason: "\(error)")
        }
    }

    private init(path: [any CodingKey], reason: String) {
        guard let outermost = path.first, outermost.stringValue == "parameters" else {
            self = .invalidMessage(reason: reason)
            return
        }
        let parameter = path.dropFirst().first?.stringValue ?? "parameters"
        self = .invalidParameter(parameter: parameter, reason: reason.isEmpty ? nil : reason)
    }
}
