import NIOHTTP1

/// Answers requests. Used on the event loop only.
protocol Responder: AnyObject {
    /// Judges a request by its head, before its body is read.
    func refusal(of head: HTTPRequestHead) -> Refusal?

    /// Answers a request, now or later. `then` must be called once.
    func respond(to request: HTTPRequest, _ then: @escaping (Response) -> Void)
}
