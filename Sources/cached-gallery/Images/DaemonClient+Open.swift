import CacheWire
import ClientCore
import NIOCore
import NIOPosix

extension DaemonClient {
    /// Asks for the file of a cached image, which the daemon hands over. `nil` if the image is not cached.
    func open(_ name: ImageName, _ then: @escaping (ServedFile?) -> Void) {
        let details = Methods.Status.Parameters(urls: [], details: true, keys: [name.text])
        call(Methods.Status.self, details) { [self] result in
            guard let item = (try? result.get().decoded(ItemList.self))?.items.first,
                item.state == .cached
            else { return then(nil) }
            open(item, then)
        }
    }

    /// A channel of NIO receives no descriptor, so a thread waits for it.
    private func open(_ item: Item, _ then: @escaping (ServedFile?) -> Void) {
        // The URL of an entry that was copied into the directory may not be known.
        let name = item.url.isEmpty ? "sha256:\(item.sha256 ?? "")" : item.url
        let received = NIOThreadPool.singleton.runIfActive(eventLoop: loop) { [paths] in
            SingleCall.open(
                Array(name.utf8), DaemonPlace(sockets: paths.map { Array($0.utf8) }))
        }
        received.assumeIsolated().whenComplete { result in
            let descriptor = (try? result.get()) ?? -1
            then(descriptor < 0 ? nil : ServedFile(descriptor, item))
        }
    }
}
