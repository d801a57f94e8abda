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
        let reserved = isManager ? nil : request.reserved
        guard request.isManagement || reserved != nil else { return }
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
            throw .permissionDenied(reason: reserved)
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

    /// Why only a manager may make the call; `nil` if everybody may. For a key or another URL, everybody would get such an
    /// image for that URL.
    var reserved: String? {
        let wants: [Want]? =
            switch self {
            case .fetch(let parameters): parameters.wants
            case .adjust(let parameters): parameters.add
            default: nil
            }
        guard let wants else { return nil }
        let managers = "only the owner of the cache, root and its managers may"
        if wants.contains(where: { $0.key != nil || $0.also != nil }) {
            return
                "\(managers) choose a key or give also; leave them out, and the URL names the image"
        }
        return wants.contains { $0.pinned == true }
            ? "\(managers) pin images; leave pinned out" : nil
    }
}
