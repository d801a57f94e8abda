import CacheWire
import NIOCore

/// `Watch`: the state at the beginning, then the changes; or the state once.
enum WatchMethod {
    /// A call with `more`: the subject that its stream subscribes to, and the state it begins with. Any thread can
    /// call it.
    static func begin(
        _ parameters: Methods.Watch.Parameters, in server: ServerContext
    ) throws(WireError) -> (subject: Subscription.Subject, snapshot: WatchSnapshot) {
        if parameters.pressure == true, parameters.urls == nil, parameters.downloads != true {
            return (.named([:]), WatchSnapshot([]))
        }
        switch (parameters.urls, parameters.downloads ?? false) {
        case (let texts?, false):
            let urls = texts.map { server.named($0) }
            return (.named(urls.byKey), WatchSnapshot(urls))
        case (nil, false): return (.everything, .everything)
        case (nil, true): return (.downloads, .downloads)
        case (.some, true):
            throw .invalidParameter(
                parameter: "downloads", reason: "downloads are watched without urls")
        }
    }

    /// A call without `more`: its only reply. Any thread can call it.
    static func writeState(
        of urls: [String], from server: ServerContext, to output: inout ByteBuffer
    ) {
        server.writeItems(urls.map { server.named($0) }, removed: [], withPin: true, to: &output)
    }
}
