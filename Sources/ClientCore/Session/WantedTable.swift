/// The images that a program wants, by name. Each set has a new table, so no element is ever removed.
///
/// Names are digests already, so their bits are the hash.
struct WantedTable {
    private(set) var names: [ImageName] = []
    private(set) var wants: [Wanted] = []
    /// Positions in `names`, each at the first slot that was free from its hash on; -1 marks a free slot.
    private var places: [Int32]

    init(capacity: Int = 0) {
        var size = 8
        while size < 2 * capacity { size *= 2 }
        places = Array(repeating: -1, count: size)
    }

    var isEmpty: Bool { names.isEmpty }

    /// The position of a name; `nil` if it is not wanted.
    func position(of name: ImageName) -> Int? {
        var place = firstPlace(name)
        while places[place] >= 0 {
            let position = Int(places[place])
            if names[position] == name { return position }
            place = (place + 1) & (places.count - 1)
        }
        return nil
    }

    /// Adds an image. It must not be in the table, and the table must have room for it.
    mutating func append(_ name: ImageName, _ want: Wanted) {
        var place = firstPlace(name)
        while places[place] >= 0 { place = (place + 1) & (places.count - 1) }
        places[place] = Int32(names.count)
        names.append(name)
        wants.append(want)
    }

    mutating func setPriority(_ priority: WantedPriority, at position: Int) {
        wants[position].priority = priority
    }

    mutating func setDecided(_ isDecided: Bool, at position: Int) {
        wants[position].isDecided = isDecided
    }

    private func firstPlace(_ name: ImageName) -> Int {
        Int(truncatingIfNeeded: name.low) & (places.count - 1)
    }
}
