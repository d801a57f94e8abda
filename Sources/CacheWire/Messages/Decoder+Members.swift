extension Decoder {
    /// The members of an object whose names are all known. Throws an error about an unknown member,
    /// with the known name that resembles it most.
    func members<Key: CodingKey & CaseIterable>(
        _: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        let known = Key.allCases.map(\.stringValue)
        let names = try container(keyedBy: AnyName.self).allKeys.map(\.stringValue)
        if let unknown = names.sorted().first(where: { !known.contains($0) }) {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: codingPath + [AnyName(stringValue: unknown)],
                    debugDescription: Self.unknown(unknown, known)))
        }
        return try container(keyedBy: Key.self)
    }

    private static func unknown(_ name: String, _ known: [String]) -> String {
        guard let nearest = name.nearest(of: known) else {
            return "\"\(name)\" is unknown; this takes no parameters"
        }
        return "\"\(name)\" is unknown; the nearest known name is \"\(nearest)\""
    }
}

/// The name of any member.
private struct AnyName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension String {
    /// The candidate that takes the fewest insertions, removals and changes of single characters to
    /// become; the first of several. Upper and lower case count as the same.
    package func nearest(of candidates: [String]) -> String? {
        candidates.min { edits(to: $0) < edits(to: $1) }
    }

    /// The Levenshtein distance.
    package func edits(to other: String) -> Int {
        // A name that is longer cannot be a typing error, and would take long to compare.
        let (from, to) = (Array(lowercased().utf8.prefix(64)), Array(other.lowercased().utf8))
        var distances = Array(0...to.count)
        for (row, byte) in from.enumerated() {
            var diagonal = distances[0]
            distances[0] = row + 1
            for column in to.indices {
                let change = diagonal + (to[column] == byte ? 0 : 1)
                diagonal = distances[column + 1]
                distances[column + 1] = Swift.min(change, diagonal + 1, distances[column] + 1)
            }
        }
        return distances[to.count]
    }
}
