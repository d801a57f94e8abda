import CacheValues
import Glibc

/// Credentials that end, in the two forms in which services and programs write them: a JSON object, or a document of XML.
///
///     {"AccessKeyId": "ASIA…", "SecretAccessKey": "…", "Token": "…", "Expiration": "2026-11-28T22:00:00Z"}
struct TemporaryCredentials: Hashable {
    let credentials: StoreCredentials
    /// `nil` if it is not known.
    let end: UnixTime?

    init?(_ document: String) {
        func value(_ name: String) -> String? {
            if let range = document.firstRange(of: "<\(name)>") {
                return String(document[range.upperBound...].prefix { $0 != "<" })
            }
            guard let range = document.firstRange(of: "\"\(name)\"") else { return nil }
            let rest = document[range.upperBound...].drop { $0 == ":" || $0.isWhitespace }
            guard rest.first == "\"" else { return nil }
            // Some programs write "/" as "\/". RFC 8259 §7
            return String(rest.dropFirst().prefix { $0 != "\"" }).replacing("\\/", with: "/")
        }
        guard let keyID = value("AccessKeyId"), let secret = value("SecretAccessKey"),
            let credentials = StoreCredentials(
                keyID: keyID, secret: secret, token: value("SessionToken") ?? value("Token"))
        else { return nil }
        self.credentials = credentials
        end = value("Expiration").flatMap(Self.time)
    }

    /// RFC 3339, in UTC. timegm(3).
    private static func time(_ text: String) -> UnixTime? {
        let numbers = text.prefix(19).split { "-T:".contains($0) }.compactMap { Int32($0) }
        guard numbers.count == 6 else { return nil }
        var time = tm()
        (time.tm_year, time.tm_mon, time.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
        (time.tm_hour, time.tm_min, time.tm_sec) = (numbers[3], numbers[4], numbers[5])
        return UInt32(exactly: timegm(&time)).map { UnixTime(rawValue: $0) }
    }
}
