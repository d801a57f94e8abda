import CacheCore
import CacheKey
import CacheValues
import Glibc
import HTTPCaching

/// Values that one setting has, or two.
extension SettingKind where Value == String {
    /// A text that is checked later, because its meaning depends on other settings.
    static func text(_ placeholder: String) -> Self { SettingKind(placeholder) { $0 } }

    /// A text that can be part of a header field (RFC 9110 §5.5).
    static func headerText(_ placeholder: String) -> Self {
        SettingKind(placeholder, "at most 512 printable characters of ASCII") { text in
            text.utf8.allSatisfy { 0x20...0x7E ~= $0 } && text.count <= 512 ? text : nil
        }
    }

    /// A host without a port, or a network.
    static var proxyException: Self {
        SettingKind("HOST", "a host like example.org or a network like 10.0.0.0/8") { text in
            let isName = !text.contains(where: { ":/*@?#[] ".contains($0) })
            return isName || AddressRange(text) != nil ? text : nil
        }
    }

    /// A file of certificates. It is read now, because libcurl would report a problem only at each download.
    static var certificates: Self {
        SettingKind("FILE") { (path) throws(WrongValue) in
            let lines: [String]
            do throws(TextFile.Problem) {
                lines = try TextFile.lines(of: path)
            } catch {
                throw WrongValue("a file of certificates: the file \(error)")
            }
            guard lines.contains(where: { $0.contains(/-----BEGIN .*CERTIFICATE-----/) }) else {
                throw WrongValue("a file of certificates in PEM")
            }
            return path
        }
    }

    /// A proxy, as `http://host:port`. A user and password belong into a file, because others can read options.
    static var proxy: Self {
        SettingKind("URL") { (text) throws(WrongValue) in
            let form =
                /(?:https?|socks5h?):\/\/(?:\[[0-9A-Fa-f:.]+\]|[^:\/@?#\[\]\s]+)(?::([0-9]{1,5}))?/
            guard let match = text.wholeMatch(of: form),
                match.1.map({ 1...65535 ~= Int($0) ?? 0 }) ?? true
            else {
                throw WrongValue(
                    "a proxy like http://host:3128 or socks5h://host:1080, without user and path",
                    shown: text.withoutPassword)
            }
            return text
        }
    }
}

extension SettingKind where Value == ProxyLogin {
    /// A file with a user and a password, which nobody else may read.
    static var proxyLogin: Self {
        SettingKind("FILE") { (path) throws(WrongValue) in
            let lines: [String]
            do throws(TextFile.Problem) {
                lines = try TextFile.lines(of: path)
            } catch {
                throw WrongValue("a file with a line USER:PASSWORD: the file \(error)")
            }
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & 0o077 == 0 else {
                throw WrongValue("a file that only its owner can read; run chmod 600 on it")
            }
            let (user, password) = (lines.first ?? "").splitOnce(at: ":")
            guard lines.count == 1, !user.isEmpty, !password.isEmpty else {
                throw WrongValue("a file with one line USER:PASSWORD")
            }
            return ProxyLogin(user: user, password: password)
        }
    }
}

extension SettingKind where Value == mode_t {
    static var permissions: Self {
        SettingKind("OCTAL", "permissions in octal like 660") { text in
            mode_t(text, radix: 8).flatMap { $0 <= 0o777 ? $0 : nil }
        }
    }
}

extension SettingKind where Value == gid_t {
    static var group: Self {
        SettingKind("GROUP", "a group of this machine", meaning: UserDatabase.group)
    }
}

extension SettingKind where Value == Managers {
    static var managers: Self {
        let names = SettingKind<[String]>.list(of: .text("NAME"))
        var kind = SettingKind(names.placeholder) { (text) throws(WrongValue) in
            let names = try names.parse(text)
            guard names.count <= Managers.most else {
                throw WrongValue(
                    "at most \(Managers.most) groups and users", shown: "\(names.count)")
            }
            do throws(Managers.UnknownAccount) {
                return try Managers(names: names)
            } catch {
                throw WrongValue("a group or a user of this machine", shown: error.name)
            }
        }
        kind.separator = names.separator
        return kind
    }
}

extension SettingKind where Value == AddressRange {
    static var network: Self {
        SettingKind("NETWORK", "a network like 127.0.0.0/8") { AddressRange($0) }
    }
}

extension SettingKind where Value == IgnoredQueries {
    static var ignoredQueries: Self {
        var kind = SettingKind("HOST:PARAMETERS") { (text) throws(WrongValue) in
            do throws(IgnoredQueries.Problem) {
                return try IgnoredQueries(text)
            } catch {
                throw WrongValue("a list of rules like cdn.example.com:sig,exp: \(error)")
            }
        }
        kind.separator = " "
        return kind
    }
}

extension SettingKind where Value == [CachingRules.MinimumFreshness] {
    static var minimumFreshness: Self {
        let expected = "rules like *.example.net:7d, each for hosts of one form"
        var kind = SettingKind("HOST:TIME") { (text) throws(WrongValue) in
            var rules: [CachingRules.MinimumFreshness] = []
            for word in text.split(separator: " ") {
                let colon = word.lastIndex(of: ":") ?? word.endIndex
                let time = String(word[colon...].dropFirst())
                do {
                    rules.append(
                        .init(
                            host: try HostPattern(word[..<colon]),
                            seconds: try SettingKind<Int64>.seconds.parse(time)))
                } catch {
                    throw WrongValue(expected, shown: String(word))
                }
            }
            return rules
        }
        kind.separator = " "
        return kind
    }
}

extension String {
    /// The text of a URL as it may be shown: a password would be before the host.
    var withoutPassword: String {
        lastIndex(of: "@").map { "…\(self[$0...])" } ?? self
    }
}

extension SettingKind where Value == SigningKey {
    /// A file with a private key, which nobody else may read.
    static var signingKey: Self {
        SettingKind("FILE") { (path) throws(WrongValue) in
            let lines = try keyLines(of: path)
            var status = stat()
            guard stat(path, &status) == 0,
                status.st_mode & 0o077 == 0 || path.hasPrefix("/run/credentials/")
            else {
                throw WrongValue("a file that only its owner can read; run chmod 600 on it")
            }
            guard lines.count == 1, let key = SigningKey(lines[0]) else {
                throw WrongValue("a file with one private key, as `cachectl store key` makes it")
            }
            return key
        }
    }
}

extension SettingKind where Value == [VerifyingKey] {
    static var trustedKeys: Self {
        SettingKind("FILE") { (path) throws(WrongValue) in
            try keyLines(of: path).map { (line) throws(WrongValue) in
                guard let key = VerifyingKey(line) else {
                    throw WrongValue("a file of public keys, as `cachectl store key` prints them")
                }
                return key
            }
        }
    }
}

/// The lines of a file of keys, without comments.
private func keyLines(of path: String) throws(WrongValue) -> [String] {
    do throws(TextFile.Problem) {
        return try TextFile.lines(of: path).filter { !$0.isEmpty && !$0.hasPrefix("#") }
    } catch {
        throw WrongValue("a file of keys: the file \(error)")
    }
}

extension SettingKind where Value == StoreCredentialSource {
    /// A key that a person writes here by mistake must not get into the log.
    static var credentials: Self {
        SettingKind("none|instance") { (text) throws(WrongValue) in
            switch text {
            case "none": return .none
            case "instance": return .instance
            default:
                throw WrongValue(
                    "none, for a public bucket, or instance; a key belongs into a file", shown: "…")
            }
        }
    }
}
