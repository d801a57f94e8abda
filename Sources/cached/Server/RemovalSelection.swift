import CacheCore
import CacheKey
import CacheWire

/// What a `Remove` names: URLs, a prefix of them, or all; exactly one of the three.
enum RemovalSelection: Sendable {
    case keys([CacheKey])
    case prefix(String)

    init(_ parameters: Methods.Remove.Parameters) throws(WireError) {
        switch (parameters.urls, parameters.prefix, parameters.all ?? false) {
        case (let urls?, nil, false):
            self = .keys(urls.compactMap { Target($0).valid?.key })
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
    func remove(from cache: Cache, completion: @escaping @Sendable (Removal?) -> Void) {
        switch self {
        case .keys(let keys): cache.remove(keys, completion: completion)
        case .prefix(let prefix): cache.removeAll(prefix: prefix, completion: completion)
        }
    }
}
