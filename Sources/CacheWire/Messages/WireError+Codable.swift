extension WireError: Codable {
    private enum CodingKeys: String, CodingKey {
        case error, parameters
    }

    /// The parameters of all errors. Each error has one of them or none.
    struct Parameters: Codable, Sendable, Hashable {
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
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .error)
        try container.encode(parameters, forKey: .parameters)
    }

    /// If a parameter of a known error is missing, the error keeps its name.
    init(name: String, parameters: Parameters) {
        self =
            switch name {
            case "io.cached.Cache.TooMany": .tooMany(limit: parameters.limit ?? 0)
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
                .invalidParameter(parameter: parameters.parameter ?? "")
            case "org.varlink.service.PermissionDenied": .permissionDenied
            case "org.varlink.service.ExpectedMore": .expectedMore
            default: .unknown(name: name)
            }
    }

    var parameters: Parameters {
        var parameters = Parameters()
        switch self {
        case .tooMany(let limit), .messageTooLarge(let limit): parameters.limit = limit
        case .invalidMessage(let reason): parameters.reason = reason
        case .interfaceNotFound(let interface): parameters.interface = interface
        case .methodNotFound(let method), .methodNotImplemented(let method):
            parameters.method = method
        case .invalidParameter(let parameter): parameters.parameter = parameter
        case .shuttingDown, .permissionDenied, .expectedMore, .unknown: break
        }
        return parameters
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
        self = .invalidParameter(parameter: path.dropFirst().first?.stringValue ?? "parameters")
    }
}
