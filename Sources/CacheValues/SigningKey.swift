internal import CCrypto

/// A private key with the name of its machine: Ed25519, RFC 8032.
///
///     web-1:9d61b19d…7f60:d75a9801…511a
package struct SigningKey: Sendable {
    package let name: String
    private let seed: [UInt8]
    /// The public key that belongs to it.
    package let verifying: VerifyingKey

    /// A new key. `nil` if nobody can have that name.
    package init?(name: String) {
        var random = SystemRandomNumberGenerator()
        self.init(name, (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    /// `NAME:PRIVATE:PUBLIC`, the keys in hex digits.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let seed = ContentDigest(parts[1])?.array else { return nil }
        self.init(parts[0], seed)
        guard verifying.text == "\(parts[0]):\(parts[2].lowercased())" else { return nil }
    }

    private init?(_ name: String, _ seed: [UInt8]) {
        var key = [UInt8](repeating: 0, count: 32)
        guard ccrypto_ed25519_public(seed, &key) == 1,
            let verifying = VerifyingKey(name: name, key)
        else { return nil }
        (self.name, self.seed, self.verifying) = (name, seed, verifying)
    }

    package var text: String {
        "\(name):\(seed.hex):\(verifying.text.dropFirst(name.utf8.count + 1))"
    }

    /// The signature of a text, with the name: `web-1:e5564300…`. `nil` if libcrypto fails.
    package func signature(of text: String) -> String? {
        let bytes = Array(text.utf8)
        var signature = [UInt8](repeating: 0, count: 64)
        guard ccrypto_ed25519_sign(seed, bytes, bytes.count, &signature) == 1 else { return nil }
        return "\(name):\(signature.hex)"
    }
}

/// The public key of a machine.
package struct VerifyingKey: Hashable, Sendable {
    package let name: String
    private let key: [UInt8]

    fileprivate init?(name: String, _ key: [UInt8]) {
        guard name.wholeMatch(of: /[A-Za-z0-9._-]{1,64}/) != nil else { return nil }
        (self.name, self.key) = (name, key)
    }

    /// `NAME:PUBLIC`, the key in hex digits.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let key = ContentDigest(parts[1])?.array else { return nil }
        self.init(name: parts[0], key)
    }

    package var text: String { "\(name):\(key.hex)" }

    /// Whether a signature with a name is that of this key and the text.
    package func verifies(_ signature: String, of text: String) -> Bool {
        let parts = signature.split(separator: ":").map(String.init)
        guard parts.count == 2, parts[0] == name, parts[1].utf8.count == 128,
            let first = ContentDigest(String(parts[1].prefix(64)))?.array,
            let second = ContentDigest(String(parts[1].suffix(64)))?.array
        else { return false }
        let bytes = Array(text.utf8)
        return ccrypto_ed25519_verify(key, bytes, bytes.count, first + second) == 1
    }
}

extension [UInt8] {
    fileprivate var hex: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
