import CacheCore
import CacheWire

/// What a `Remove` names: URLs, a prefix of them, or all; exactly one of the three.
enum RemovalSelection: Sendable {
    case urls([String])
    case prefix(String)

    init(_ parameters: Methods.Remove.Parameters) throws(WireError) {
        switch (parameters.urls, parameters.prefix, parameters.all ?? false) {
        case (let urls?, nil, false):
            self = .urls(urls)
        case (nil, let prefix?, false):
            guard !prefix.isEmpty else { throw .invalidParameter(parameter: "prefix") }
            self = .prefix(prefix)
        case (nil, nil, true):
            self = .prefix("")
        default:
            throw .invalidParameter(parameter: "urls")
        }
    }

    /// Removes it; `completion` comes from any thread once the files are gone, or with `nil` where the end
    /// of the daemon comes first.
    func remove(from cache: Cache, completion: @escaping Cache.RemovalEnd) {
        switch self {
        case .urls(let urls):
            cache.remove(urls.compactMap { Target($0).valid?.key }, completion: completion)
        case .prefix(let prefix): cache.removeAll(prefix: prefix, completion: completion)
        }
    }
}

extension CacheWire.Failure {
    init(_ failure: CacheCore.Failure) {
        self.init(kind: failure.kind.rawValue, message: failure.message)
    }
}
