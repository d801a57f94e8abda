import CacheKey
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
        let peer = connection.peer
        let reserved =
            isManager
            ? nil : request.reserved ?? (peer?.isGuest == true ? request.reservedFromGuests : nil)
        guard request.isManagement || reserved != nil else { return }
        let metadata: Logger.Metadata = [
            "method": "\(header.method)", "user": "\(peer.map { "\($0.user)" } ?? "unknown")",
            "process": "\(peer?.process ?? 0)",
        ]
        guard let peer, isManager else {
            // Once, because a client can repeat its call without end.
            if !hasRefused {
                server.logger.notice(
                    """
                    call refused: only the owner, root and --managers may make it, and no program in a sandbox
                    """, metadata: metadata)
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
        case .remove, .pin, .evict, .pressure, .checkStore, .verify: true
        case .getInfo, .getInterfaceDescription, .status, .open, .fetch, .adjust, .watch, .list,
            .stats, .history, .where:
            false
        }
    }

    /// Why a program in a sandbox may not make the call; `nil` if it may. It names URLs, and learns about them alone.
    var reservedFromGuests: String? {
        let texts: [String]
        switch self {
        case .list: return Self.namesOnly
        case .history(let parameters): texts = parameters.urls ?? []
        case .watch(let parameters):
            guard let urls = parameters.urls else {
                return parameters.pressure == true && parameters.downloads != true
                    ? nil : Self.namesOnly
            }
            texts = urls
        case .status(let parameters):
            guard parameters.keys == nil else { return Self.namesOnly }
            texts = parameters.urls
        case .open(let parameters): texts = [parameters.url]
        case .fetch(let parameters):
            texts = (parameters.urls ?? []) + (parameters.wants ?? []).map(\.url)
        case .adjust(let parameters): texts = (parameters.add ?? []).map(\.url)
        default: return nil
        }
        return texts.contains { CacheURL.account(in: $0) != nil }
            ? "a program in a sandbox gets no images of accounts (#as=); leave the account out"
            : nil
    }

    private static let namesOnly =
        "a program in a sandbox learns about the URLs that it names; name them with Status or Watch"

    /// Why only a manager may make the call; `nil` if everybody may. For a key or another URL, everybody would get such an
    /// image for that URL. The URLs of others can hold secrets.
    var reserved: String? {
        let isAboutOthers =
            switch self {
            case .history(let parameters): parameters.urls == nil
            case .list(let parameters): parameters.state == .failed
            default: false
            }
        if isAboutOthers {
            return "only the owner of the cache, root and its managers may see what others "
                + "fetched; name urls"
        }
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
