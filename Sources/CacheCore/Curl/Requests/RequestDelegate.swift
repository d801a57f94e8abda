import CacheValues
import HTTPCaching

/// Decides about the responses to a request and takes their body. libcurl's callbacks call it, on the transfer
/// loop's thread.
protocol RequestDelegate: AnyObject {
    /// Whether the body of the latest response is wanted. Other bodies are skipped.
    var wantsBody: Bool { get }

    /// A response began: its status line is there.
    func responseBegan(isMultiplexed: Bool)

    /// Returns why the image that a complete head announces cannot be taken, or `nil`. The body has not
    /// arrived yet.
    func refusal(of head: ResponseHead) -> Failure?

    /// A piece of a wanted body arrived.
    func received(_ bytes: UnsafeRawBufferPointer) -> WriteResult
}
