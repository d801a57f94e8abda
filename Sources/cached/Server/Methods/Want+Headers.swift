import CacheKey
import CacheValues
import CacheWire

/// The header fields of an account, as a client gives them.
extension Want {
    /// The most other URLs of one image.
    static let alsoLimit = 16
    /// The most fields of one image, and their most bytes.
    private static let limits = (fields: 16, bytes: 8192)

    var fields: [RequestField] {
        (headers ?? [:]).sorted { $0.key < $1.key }.map { RequestField(name: $0, value: $1) }
    }

    /// Why the fields cannot be sent; `nil` if they can. No text quotes a value.
    var problemOfHeaders: String? {
        let fields = fields
        guard !fields.isEmpty else { return nil }
        guard namesAccount else { return "the URL names no account; add #as=NAME" }
        let bytes = fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard fields.count <= Self.limits.fields, bytes <= Self.limits.bytes else {
            return
                "at most \(Self.limits.fields) fields of \(Self.limits.bytes) bytes together are sent"
        }
        guard Set(fields.map { $0.name.lowercased() }).count == fields.count else {
            return "a field is there twice"
        }
        return fields.lazy.compactMap(\.problem).first
    }

    /// A text that is no URL fails for its own reason.
    private var namesAccount: Bool {
        do {
            return try CacheURL(key ?? url).account != nil
        } catch {
            return true
        }
    }
}
