import CacheKey
import Foundation
import TestSupport

/// The key of a URL.
func key(_ url: String) throws -> String { CacheKey(try CacheURL(url)).description }

/// The name of the attribute that holds the record of a URL.
func recordName(_ url: String) throws -> String {
    "user.cached." + CacheKey(try CacheURL(url)).description.prefix(8)
}

/// The size of the file at a path, links not followed; `nil` if there is none.
func size(at path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.intValue
}

/// The SHA-256 of bytes in hexadecimal, as sha256sum(1) prints it.
func sha256(_ bytes: [UInt8]) async throws -> String {
    String(try await runSuccessfully("sha256sum", ["-"], input: bytes).prefix(64))
}
