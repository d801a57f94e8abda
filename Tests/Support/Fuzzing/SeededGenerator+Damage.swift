extension SeededGenerator {
    /// Random bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// A random element.
    public mutating func one<Element>(of choices: [Element]) -> Element {
        choices[Int.random(in: choices.indices, using: &self)]
    }

    /// Changes bytes in one of the ways that a parser must survive.
    public mutating func damage(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return bytes = self.bytes(4) }
        let place = Int.random(in: bytes.indices, using: &self)
        let end = min(place + Int.random(in: 1...32, using: &self), bytes.count)
        switch Int.random(in: 0..<8, using: &self) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 1: bytes[place] = one(of: [0, 1, 0x20, 0x22, 0x5C, 0x7F, 0x80, 0xC0, 0xFE, 0xFF])
        case 2: bytes.removeSubrange(place..<end)
        case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 4: bytes.insert(contentsOf: self.bytes(end - place), at: place)
        case 5: bytes.removeSubrange(place...)
        case 6: bytes.replaceSubrange(place..<end, with: bytes[place..<end].reversed())
        default: bytes.insert(contentsOf: self.bytes(Int.random(in: 0...3, using: &self)), at: 0)
        }
    }
}
