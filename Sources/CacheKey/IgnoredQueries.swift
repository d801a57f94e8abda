/// Rules that say which parameters of a query do not count in the name of an image, by host.
///
///     let rules = try IgnoredQueries("cdn.discordapp.com:ex,is,hm s3.*.amazonaws.com:X-Amz-*")
///
/// A URL that a rule changes names its image without these parameters. Only the query is
/// changed, so no rule joins the images of two hosts or paths.
public struct IgnoredQueries: Hashable, Sendable {
    /// Why a text is not a list of rules.
    public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String
    }

    fileprivate struct Rule: Hashable {
        let host: HostPattern
        let parameters: [Pattern]
    }

    private let rules: [Rule]
    /// The rules as they were written.
    public let text: String

    /// No rules.
    public init() {
        (rules, text) = ([], "")
    }

    /// - Parameter text: rules with spaces between them. Each is a host, a colon, and names of parameters with commas
    ///   between them. In both, `*` stands for any characters; in a host it does not stand for a dot.
    public init(_ text: String) throws(Problem) {
        self.text = text
        var rules: [Rule] = []
        for word in text.split(separator: " ") { rules.append(try Self.rule(word)) }
        self.rules = rules
    }

    public var isEmpty: Bool { rules.isEmpty }

    private static func rule(_ word: Substring) throws(Problem) -> Rule {
        guard let colon = word.lastIndex(of: ":") else {
            throw Problem(description: "\"\(word)\" has no colon between a host and its parameters")
        }
        let host: HostPattern
        do throws(HostPattern.Problem) {
            host = try HostPattern(word[..<colon])
        } catch {
            throw Problem(
                description: error == .notOneHost
                    ? "\"\(word)\" does not name one host; write a rule for each, without port and path"
                    : "\"\(word)\" would be for all hosts, whose parameters mean different things; name a host"
            )
        }
        let names = word[word.index(after: colon)...].split(
            separator: ",", omittingEmptySubsequences: false)
        guard !names.isEmpty,
            names.allSatisfy({ !$0.isEmpty && !$0.contains(where: "=&?#".contains) })
        else {
            throw Problem(
                description: "\"\(word)\" does not name parameters with commas between them")
        }
        return Rule(host: host, parameters: names.map { Pattern($0) })
    }

    /// A URL without the parameters that do not count; `nil` if all of them count.
    private func shortened(_ url: CacheURL) -> CacheURL? {
        let text = url.withoutFragment.string
        guard !rules.isEmpty, let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            return nil
        }
        let ignored = patterns(for: url)
        guard !ignored.isEmpty else { return nil }
        let query = text[text.utf8.index(after: mark)...]
        let all = query.split(separator: "&", omittingEmptySubsequences: false)
        let kept = all.filter { parameter in
            let name = parameter.prefix { $0 != "=" }
            return !ignored.contains { $0.matches(name) }
        }
        guard kept.count < all.count else { return nil }
        let rest = kept.isEmpty ? "" : "?" + kept.joined(separator: "&")
        do {
            return try CacheURL(text[..<mark] + rest + url.fragmentText)
        } catch {
            // Only the query became shorter, so this cannot happen.
            return nil
        }
    }

    private func patterns(for url: CacheURL) -> [Pattern] {
        guard !rules.isEmpty else { return [] }
        let host = url.host
        return rules.filter { $0.host.matches(host) }.flatMap(\.parameters)
    }

    /// The names of the parameters that a URL has and that do not count, sorted and once each.
    public func leftOut(of url: CacheURL) -> [String] {
        let query = url.withoutFragment.string.drop { $0 != "?" }.dropFirst()
        let names = Set(query.split(separator: "&").map { $0.prefix { $0 != "=" } })
        return names.filter { leaveOut([$0], of: url) }.map(String.init).sorted()
    }

    /// Whether none of these parameters counts in the URLs of the host of a URL.
    public func leaveOut(_ names: [Substring], of url: CacheURL) -> Bool {
        let ignored = patterns(for: url)
        return names.allSatisfy { name in ignored.contains { $0.matches(name) } }
    }

    /// The URL that names the image of a URL.
    public func name(of url: CacheURL) -> CacheURL { shortened(url) ?? url }

    /// The key of the image of a URL.
    public func key(of url: CacheURL) -> CacheKey { CacheKey(name(of: url)) }
}
