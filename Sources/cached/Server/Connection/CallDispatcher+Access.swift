import CacheWire
import Logging
import NIOCore

/// Which client may make which call.
extension CallDispatcher {
    /// Whether the client is a manager of the cache. Only managers may decide about the images of others.
    var isManager: Bool { connection.peer.map(server.managers.value.include) ?? false }

    /// Fails if a call decides about the images of others and its client is no manager. Logs who changes the cache; the
    /// owner's own calls only for debugging.
    func authorize(
        _ request: IncomingCall.Request, _ header: CallHeader
    ) throws(WireError) {
        let isManager = isManager
        guard request.isManagement || !isManager && request.choosesNames else { return }
        let peer = connection.peer
        let metadata: Logger.Metadata = [
            "method": "\(header.method)", "user": "\(peer.map { "\($0.user)" } ?? "unknown")",
            "process": "\(peer?.process ?? 0)",
        ]
        guard let peer, isManager else {
            // Once, because a client can repeat its call without end.
            if !hasRefused {
                server.logger.notice(
                    "call refused: only the owner, root and --managers may change the cache",
                    metadata: metadata)
            }
            hasRefused = true
            throw .permissionDenied(reason: request.isManagement ? nil : Self.noKeys)
        }
        let level = server.managers.value.isOwner(peer) ? Logger.Level.debug : .info
        server.logger.log(level: level, "call changes the cache", metadata: metadata)
    }

    private static let noKeys =
        "only the owner of the cache, root and its managers may choose a key; leave it out, and the URL names the image"
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

    /// Whether the call names images by other URLs than their own. Everybody would get such an image for that URL.
    var choosesNames: Bool {
        switch self {
        case .fetch(let parameters): parameters.wants?.contains { $0.key != nil } ?? false
        case .adjust(let parameters): parameters.add?.contains { $0.key != nil } ?? false
        default: false
        }
    }
}
