/// The keys that prove this machine's identity to a store. They are never logged.
struct StoreCredentials: Hashable, Sendable {
    let keyID: String
    let secret: String
    /// For temporary credentials.
    let token: String?

    /// `nil` if one of the values cannot be part of a header field.
    init?(keyID: String, secret: String, token: String?) {
        let values = [keyID, secret, token ?? ""]
        guard !keyID.isEmpty, !secret.isEmpty,
            values.allSatisfy({ $0.utf8.allSatisfy { 0x21...0x7E ~= $0 } })
        else { return nil }
        (self.keyID, self.secret) = (keyID, secret)
        self.token = token?.isEmpty == true ? nil : token
    }
}
