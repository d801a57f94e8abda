import CacheKey
import CacheWire
import NIOCore

/// A decoded message. Any thread can decode one.
struct IncomingCall: Sendable {
    enum Request: Sendable {
        case getInfo
        case getInterfaceDescription(Methods.GetInterfaceDescription.Parameters)
        case status(Methods.Status.Parameters)
        case open(Methods.Open.Parameters)
        case fetch(Methods.Fetch.Parameters)
        case adjust(Methods.Adjust.Parameters)
        case watch(Methods.Watch.Parameters)
        case list(Methods.List.Parameters)
        case remove(Methods.Remove.Parameters)
        case pin(Methods.Pin.Parameters)
        case evict(Methods.Evict.Parameters)
        case pressure(Methods.Pressure.Parameters)
        case stats
        case history(Methods.History.Parameters)
        case verify(Methods.Verify.Parameters)
        case checkStore
        case `where`
    }

    let header: CallHeader
    /// The parameters by method, or why the call cannot be answered.
    let request: Result<Request, WireError>
    /// The length of the message.
    private let length: Int
}

extension IncomingCall {
    /// Bytes that the daemon holds for each URL of a call that goes on, besides its text: for a download and those who
    /// wait for it, or for a name that is watched.
    static let memoryOfDownload = 1024
    private static let memoryOfName = 256

    /// Bytes that the daemon holds for the call.
    var memory: Int {
        guard case .success(let request) = request else { return length }
        return length + urlMemory * request.urlCount
    }

    /// How many of them each URL takes besides its text; 0 if the call only waits for its answer.
    var urlMemory: Int {
        switch request {
        case .success(.fetch), .success(.adjust): Self.memoryOfDownload
        case .success(.watch): Self.memoryOfName
        default: 0
        }
    }

    /// Whether it changes the stream before it.
    var isAdjust: Bool {
        guard case .success(.adjust) = request else { return false }
        return true
    }

    /// The largest number of URLs in one call. A message has room for millions of short URLs, and their reply would
    /// take gigabytes.
    static let urlLimit = 200_000

    /// Bytes of a call that the event loop answers itself: several hundred URLs, about 2 ms.
    private static let shortMessage = 32 * 1024
    /// The same for a plain `Status`, which takes a tenth of the time. URLs can be very short, so they count too.
    private static let shortStatus = (bytes: 256 * 1024, urls: 4096)

    /// Whether decoding and answering a message would delay other clients.
    static func isLong(_ message: ByteBuffer) -> Bool {
        guard message.readableBytes > shortMessage else { return false }
        return message.readableBytes > shortStatus.bytes
            || !message.withUnsafeReadableBytes { isShortStatus($0) }
    }

    private static func isShortStatus(_ message: UnsafeRawBufferPointer) -> Bool {
        guard let call = PlainCall(message), call.method == .status, call.count <= shortStatus.urls
        else { return false }
        return call.texts(in: message).allSatisfy { CacheURL.problem(in: $0) == nil }
    }

    /// Decodes a message; fails if it is not a call at all, so that the connection has to be closed.
    static func decode(_ message: UnsafeRawBufferPointer) -> Result<IncomingCall, WireError> {
        do throws(WireError) {
            if let call = scanned(message) { return .success(call) }
            return .success(try decoded(message))
        } catch {
            return .failure(error)
        }
    }

    /// The calls that can name very many URLs are found without a decoder, if they are written plainly.
    private static func scanned(_ message: UnsafeRawBufferPointer) -> IncomingCall? {
        if let call = PlainCall(message), call.method == .status {
            let urls = call.texts(in: message).map { String(decoding: $0, as: UTF8.self) }
            return IncomingCall(
                CallHeader(method: MethodName.status.rawValue), .status(.init(urls: urls)),
                message.count)
        }
        if let (header, parameters) = scanned(message, as: Methods.Fetch.Parameters.self) {
            return IncomingCall(header, .fetch(parameters), message.count)
        }
        if let (header, parameters) = scanned(message, as: Methods.Adjust.Parameters.self) {
            return IncomingCall(header, .adjust(parameters), message.count)
        }
        return nil
    }

    private static func scanned<Parameters: ScannedParameters>(
        _ message: UnsafeRawBufferPointer, as _: Parameters.Type
    ) -> (CallHeader, Parameters)? {
        guard let call = Call<Parameters>(scanning: message), let parameters = call.parameters
        else { return nil }
        return (CallHeader(method: call.method, oneway: call.oneway, more: call.more), parameters)
    }

    private static func decoded(
        _ message: UnsafeRawBufferPointer
    ) throws(WireError) -> IncomingCall {
        let header: CallHeader
        do {
            header = try Message.decode(from: message)
        } catch {
            throw .invalidMessage(reason: reason(error))
        }
        do throws(WireError) {
            return IncomingCall(header, try request(header, message), message.count)
        } catch {
            if case .invalidMessage = error { throw error }
            return IncomingCall(header: header, request: .failure(error), length: message.count)
        }
    }

    private init(_ header: CallHeader, _ request: Request, _ length: Int) {
        (self.header, self.length) = (header, length)
        let isTooLong = request.urlCount > Self.urlLimit
        self.request = isTooLong ? .failure(.tooMany(limit: Self.urlLimit)) : .success(request)
    }

    private static func request(
        _ header: CallHeader, _ message: UnsafeRawBufferPointer
    ) throws(WireError) -> Request {
        guard let method = MethodName(rawValue: header.method) else { throw unknown(header.method) }
        return switch method {
        case .getInfo: try noParameters(message, .getInfo)
        case .getInterfaceDescription: .getInterfaceDescription(try parameters(message))
        case .status: .status(try parameters(message))
        case .open: .open(try parameters(message))
        case .fetch: .fetch(try parameters(message))
        case .adjust: .adjust(try parameters(message))
        case .watch: .watch(try parameters(message))
        case .list: .list(try parameters(message))
        case .remove: .remove(try parameters(message))
        case .pin: .pin(try parameters(message))
        case .evict: .evict(try parameters(message))
        case .pressure: .pressure(try parameters(message))
        case .stats: try noParameters(message, .stats)
        case .history: .history(try parameters(message))
        case .verify: .verify(try parameters(message))
        case .checkStore: try noParameters(message, .checkStore)
        case .where: try noParameters(message, .where)
        }
    }

    /// The parameters of a call. A missing object counts as an empty one.
    private static func parameters<Parameters: WireValue>(
        _ message: UnsafeRawBufferPointer
    ) throws(WireError) -> Parameters {
        do {
            let call = try Message.decode(Call<Parameters>.self, from: message)
            if let parameters = call.parameters { return parameters }
            return try Message.decode(from: "{}".utf8)
        } catch {
            let reply = WireError(error)
            guard case .invalidMessage = reply else { throw reply }
            // Without any parameters the error still names the one that is missing.
            guard case .keyNotFound(let key, _) = error else {
                // For a number that is too large the decoder reports no parameter. A text that is not UTF-8 is not
                // JSON (RFC 8259 §8.1), even if its header could be read.
                let isText = String(validating: message, as: UTF8.self) != nil
                throw isText
                    ? .invalidParameter(
                        parameter: "parameters", reason: "a number is out of range") : reply
            }
            throw .invalidParameter(parameter: key.stringValue, reason: "it is missing")
        }
    }

    /// The request of a method without parameters. Throws if there are any.
    private static func noParameters(
        _ message: UnsafeRawBufferPointer, _ request: Request
    ) throws(WireError) -> Request {
        let _: NoParameters = try parameters(message)
        return request
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

extension IncomingCall.Request {
    /// How many URLs the call names.
    fileprivate var urlCount: Int {
        switch self {
        case .status(let parameters): parameters.urls.count + (parameters.keys?.count ?? 0)
        case .fetch(let parameters):
            (parameters.urls?.count ?? 0) + (parameters.wants?.count ?? 0)
        case .adjust(let parameters):
            (parameters.add?.count ?? 0) + (parameters.drop?.count ?? 0)
        case .watch(let parameters): parameters.urls?.count ?? 0
        case .remove(let parameters): parameters.urls?.count ?? 0
        case .pin(let parameters): parameters.urls.count
        case .history(let parameters): parameters.urls?.count ?? 0
        default: 0
        }
    }
}

extension CallHeader {
    /// Whether the caller takes more than one reply.
    var isStream: Bool { more == true && oneway != true }
}
