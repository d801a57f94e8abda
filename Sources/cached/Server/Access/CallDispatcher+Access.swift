import CacheWire
import Logging
import NIOCore

/// Which client may make which call.
extension CallDispatcher {
    /// Fails if a call changes the cache and its client may not do that. Logs who changes the cache; the owner's own
    /// calls only for debugging.
    func authorize(
        _ request: IncomingCall.Request, _ header: CallHeader
    ) throws(WireError) {
        guard request.isManagement else { return }
        let peer = connection.peer
        let metadata: Logger.Metadata = [
            "method": "\(header.method)", "user": "\(peer.map { "\($0.user)" } ?? "unknown")",
            "process": "\(peer?.process ?? 0)",
        ]
        guard let peer, server.managers.value.include(peer) else {
            // Once, because a client can repeat its call without end.
            if !hasRefused {
                server.logger.notice(
                    "call refused: only the owner, root and --managers may change the cache",
                    metadata: metadata)
            }
            hasRefused = true
            throw .permissionDenied
        }
        let level = server.managers.value.isOwner(peer) ? Logger.Level.debug : .info
        server.logger.log(level: level, "call changes the cache", metadata: metadata)
    }
}

extension IncomingCall.Request {
    /// Whether the call changes what is in the cache, other than by fetching.
    var isManagement: Bool {
        switch self {
        case .remove, .pin, .evict, .pressure, .checkStore: true
        case .verify(let parameters): parameters.repair == true
        case .getInfo, .getInterfaceDescription, .status, .open, .fetch, .adjust, .watch, .list,
            .stats, .evictions, .where:
            false
        }
    }
}
