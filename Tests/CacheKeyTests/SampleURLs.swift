/// Random URLs, the same in every run. Many of them are not ASCII.
enum SampleURLs {
    private static let alphabet = Array(
        "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789-._~!$&'()*+,;=:@%/?\"\\<>[]{}|^`")
    private static let beyond = Array("äöüßéñøłžΩλДЖשع日本語한글ไทย🖼️🐈👩‍🚀e\u{301}\u{FFFD}")

    static func make(count: Int) -> [String] {
        var random = SplitMix64(state: 0x1DEA_CAFE)
        return (0..<count).map { index in
            let length = Int.random(in: 0...(index % 20 == 0 ? 400 : 60), using: &random)
            let path = (0..<length).map { _ in character(&random) }
            return "http\(index % 3 == 0 ? "" : "s")://host\(index).example/" + String(path)
        }
    }

    private static func character(_ random: inout SplitMix64) -> Character {
        let isBeyond = Int.random(in: 0..<4, using: &random) == 0
        let characters = isBeyond ? beyond : alphabet
        return characters[Int.random(in: 0..<characters.count, using: &random)]
    }
}

/// Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
