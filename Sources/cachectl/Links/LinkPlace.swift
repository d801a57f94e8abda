import CacheWire
import ImageFormats

/// The place of an image in a tree of links: HOST/PATH/name.ext. Pure.
///
/// A URL is text from elsewhere. Each of its parts becomes one plain name: never "." or "..", without a slash,
/// without characters that command a terminal, and not longer than a file system allows.
struct LinkPlace: Hashable {
    /// The folders, from the host on.
    let directories: [String]
    /// The name of the link. Another image can have the same.
    let name: String
    /// The name of the link if something else has ``name``, or the name of one of its folders.
    let distinctName: String

    /// Bytes of a name on every common file system.
    private static let longestName = 255
    /// Bytes of a place, so that its whole path stays below `PATH_MAX`.
    private static let longestPlace = 2048
    private static let digits = 8

    /// - Parameters:
    ///   - url: the URL; empty if the cache does not know it.
    ///   - key: the name of the image's file.
    ///   - mediaType: determines the ending of the name.
    init(url: String, key: String, mediaType: String?) {
        let parts = Self.parts(of: url)
        var directories = [parts.host] + parts.folders
        if directories.reduce(0, { $0 + $1.utf8.count + 1 }) > Self.longestPlace {
            directories = [parts.host]
        }
        let ending = Self.ending(of: parts.last, mediaType)
        let stem = Self.name(
            parts.last.dropLast(ending.isGiven ? ending.text.count : 0) + parts.query)
        let mark = "~" + Self.name(key).prefix(Self.digits)
        let room = Self.longestName - ending.text.utf8.count
        self.directories = directories
        distinctName = stem.prefix(bytes: room - mark.utf8.count) + mark + ending.text
        name = stem.utf8.count <= room ? stem + ending.text : distinctName
    }

    /// Whether a link at `place` is one that this place allows.
    func allows(_ place: [String]) -> Bool {
        guard let last = place.last else { return false }
        let folders = place.dropLast()
        return last == distinctName && directories.starts(with: folders)
            || last == name && directories == Array(folders)
    }
}

extension LinkPlace {
    private static func parts(
        of url: String
    ) -> (host: String, folders: [String], last: String, query: String) {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let target = rest.dropFirst(authority.count)
        let path = target.prefix { $0 != "?" }
        var segments = path.split(separator: "/").map(String.init)
        let last = path.hasSuffix("/") ? nil : segments.popLast()
        // Hosts have no case (RFC 9110 §4.2.3).
        let host = authority.isEmpty ? "unknown" : name(authority.lowercased())
        return (
            host.prefix(bytes: longestName),
            segments.map { name($0).prefix(bytes: longestName) },
            last ?? "index", String(target.dropFirst(path.count))
        )
    }

    /// The text as one plain name, with percent-encoding (RFC 3986 §2.1) in place of anything else.
    private static func name(_ text: some StringProtocol) -> String {
        if text == "." || text == ".." { return String(repeating: "%2E", count: text.count) }
        var name = ""
        for scalar in text.unicodeScalars {
            if scalar == "/" || scalar.commandsTerminal {
                for byte in String(scalar).utf8 {
                    name += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
                }
            } else {
                name.unicodeScalars.append(scalar)
            }
        }
        return name
    }

    /// The ending by which programs know the type, with its dot, and whether the name has it already.
    private static func ending(
        of name: String, _ mediaType: String?
    ) -> (text: String, isGiven: Bool) {
        let known = mediaType.flatMap { MediaType(name: $0) }?.endings ?? []
        guard let usual = known.first else { return ("", false) }
        let given = name.lastIndex(of: ".").map { String(name[$0...].dropFirst()) }
        if let given, known.contains(given.lowercased()) { return ("." + given, true) }
        return ("." + usual, false)
    }
}

extension String {
    /// The longest start of whole characters that has at most `limit` bytes of UTF-8.
    fileprivate func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var start = String.UnicodeScalarView()
        var room = limit
        for scalar in unicodeScalars {
            room -= String(scalar).utf8.count
            guard room >= 0 else { break }
            start.append(scalar)
        }
        return String(start)
    }
}
