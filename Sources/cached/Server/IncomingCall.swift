import CacheWire

/// A message taken apart, which any thread can do.
struct IncomingCall: Sendable {
    /// What is asked for.
    enum Request: Sendable {
        case getInfo
        case getInterfaceDescription(Methods.GetInterfaceDescription.Parameters)
        case status(Methods.Status.Parameters)
        case fetch(Methods.Fetch.Parameters)
        case watch(Methods.Watch.Parameters)
        case list(Methods.List.Parameters)
        case remove(Methods.Remove.Parameters)
        case pin(Methods.Pin.Parameters)
        case evict(Methods.Evict.Parameters)
        case pressure(Methods.Pressure.Parameters)
        case stats
        case verify(Methods.Verify.Parameters)
    }

    let header: CallHeader
    /// Or why it can't be answered.
    let request: Result<Request, WireError>
}

extension IncomingCall {
    /// - Throws: why the connection has to be closed, where it is no call at all.
    init(_ message: UnsafeRawBufferPointer) throws(WireError) {
        if let call = Call<Methods.Fetch.Parameters>(scanning: message),
            let parameters = call.parameters
        {
            header = CallHeader(method: call.method, oneway: call.oneway, more: call.more)
            request = .success(.fetch(parameters))
            return
        }
        do {
            header = try Message.decode(from: message)
        } catch {
            throw .invalidMessage(reason: Self.reason(error))
        }
        do throws(WireError) {
            request = .success(try Self.request(header, message))
        } catch {
            if case .invalidMessage = error { throw error }
            request = .failure(error)
        }
    }

    private static func request(
        _ header: CallHeader, _ message: UnsafeRawBufferPointer
    ) throws(WireError) -> Request {
        guard let method = MethodName(rawValue: header.method) else { throw unknown(header.method) }
        return switch method {
        case .getInfo: .getInfo
        case .getInterfaceDescription: .getInterfaceDescription(try parameters(message))
        case .status: .status(try parameters(message))
        case .fetch: .fetch(try parameters(message))
        case .watch: .watch(try parameters(message))
        case .list: .list(try parameters(message))
        case .remove: .remove(try parameters(message))
        case .pin: .pin(try parameters(message))
        case .evict: .evict(try parameters(message))
        case .pressure: .pressure(try parameters(message))
        case .stats: .stats
        case .verify: .verify(try parameters(message))
        }
    }

    /// The parameters of a call; a missing object counts as an empty one.
    private static func parameters<Parameters: Codable & Sendable & Hashable>(
        _ message: UnsafeRawBufferPointer
    ) throws(WireError) -> Parameters {
        do {
            let call = try Message.decode(Call<Parameters>.self, from: message)
            if let parameters = call.parameters { return parameters }
            return try Message.decode(from: "{}".utf8)
        } catch {
            let reply = WireError(error)
            guard case .invalidMessage = reply else { throw reply }
            // Where nothing was given at all, it is still a parameter that is missing.
            guard case .keyNotFound(let key, _) = error else {
                // Of a number beyond all bounds the decoder can't say where it is. A text that is not UTF-8
                // is no JSON (RFC 8259 §8.1), though its header could be read.
                let isText = String(validating: message, as: UTF8.self) != nil
                throw isText ? .invalidParameter(parameter: "parameters") : reply
            }
            throw .invalidParameter(parameter: key.stringValue)
        }
    }

    private static func reason(_ error: DecodingError) -> String {
        switch error {
        case .dataCorrupted(let context): "not JSON: \(context.debugDescription)"
        case .keyNotFound(let key, _): "the member \(key.stringValue) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "the member \(context.codingPath.last?.stringValue ?? "at the top") has the wrong type"
        @unknown default: "not a call"
        }
    }

    private static func unknown(_ method: String) -> WireError {
        let interface = method.split(separator: ".").dropLast().joined(separator: ".")
        return InterfaceDescription.served.contains(interface)
            ? .methodNotFound(method: method) : .interfaceNotFound(interface: interface)
    }
}

extension InterfaceDescription {
    /// All interfaces on the socket.
    static let served = [serviceName, cacheName]
}
