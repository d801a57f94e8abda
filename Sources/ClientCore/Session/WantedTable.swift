/// The images that a program wants, by name.
///
/// Names are digests already, so their bits are the hash.
struct WantedTable {
    private(set) var names: [ImageName] = []
    var wants: [Wanted] = []
    /// Positions in `names`, each at the first slot that was free from its hash on; -1 marks a free slot.
    private var places: [Int32] = Array(repeating: -1, count: 8)

    var isEmpty: Bool { names.isEmpty }

    /// The position of a name; `nil` if it is not wanted.
    func position(of name: ImageName) -> Int? {
        let position = Int(places[place(of: name)])
        return position >= 0 ? position : nil
    }

    /// Adds an image, which must not be in the table.
    mutating func append(_ name: ImageName, _ want: Wanted) {
        names.append(name)
        wants.append(want)
        if 2 * names.count > places.count {
            places = Array(repeating: -1, count: 2 * places.count)
            for (position, name) in names.enumerated() { places[place(of: name)] = Int32(position) }
        } else {
            places[place(of: name)] = Int32(names.count - 1)
        }
    }

    /// Removes an image. The last one takes its position.
    mutating func remove(at position: Int) {
        let last = names.count - 1
        let (gone, moved) = (place(of: names[position]), place(of: names[last]))
        names.swapAt(position, last)
        wants.swapAt(position, last)
        places[moved] = Int32(position)
        free(gone)
        names.removeLast()
        wants.removeLast()
    }

    /// Frees a slot, and moves into it what would not be found any more. Knuth, TAOCP 6.4, algorithm R
    private mutating func free(_ place: Int) {
        var (free, next) = (place, place)
        while true {
            next = (next + 1) & (places.count - 1)
            guard places[next] >= 0 else { break }
            let home = firstPlace(names[Int(places[next])])
            let distance = (next - home) & (places.count - 1)
            guard distance >= (next - free) & (places.count - 1) else { continue }
            places[free] = places[next]
            free = next
        }
        places[free] = -1
    }

    /// The slot of a name, or the free one that it would get.
    private func place(of name: ImageName) -> Int {
        var place = firstPlace(name)
        while places[place] >= 0, names[Int(places[place])] != name {
            place = (place + 1) & (places.count - 1)
        }
        return place
    }

    private func firstPlace(_ name: ImageName) -> Int {
        Int(truncatingIfNeeded: name.low) & (places.count - 1)
    }
}
