/// The progress of the search for victims.
///
/// The search skips entries that are pinned or spared. Skipped entries that are no longer pinned or
/// spared return, and they are the next victims. So each entry is skipped once, however many
/// victims are chosen.
struct EvictionCursor {
    /// Skipped entries by their place in the index. The numbers follow the order of use.
    private var numbers = [UInt32: UInt64]()
    private var count = 0
    private var lastNumber: UInt64 = 0
    /// Entries that returned. The least recently used one is last.
    private var returned: [(number: UInt64, place: UInt32)] = []

    var isEmpty: Bool { count == 0 }

    /// The least recently used entry that returned.
    var firstReturned: UInt32? { returned.last?.place }

    /// Skips an entry that was used more recently than all entries skipped before.
    mutating func pass(_ place: UInt32) {
        lastNumber += 1
        count += 1
        numbers[place] = lastNumber
    }

    /// An entry is perhaps no longer pinned or spared, so the search tries it again.
    mutating func returns(_ place: UInt32) {
        guard !isEmpty, let number = numbers[place] else { return }
        let position = position(of: number)
        guard !isReturned(number, at: position) else { return }
        returned.insert((number, place), at: position)
    }

    /// The first entry that returned is still pinned or spared.
    mutating func firstReturnedStays() {
        returned.removeLast()
    }

    /// An entry was removed or moved in the order of use.
    mutating func forget(_ place: UInt32) {
        guard !isEmpty, let number = numbers.removeValue(forKey: place) else { return }
        count -= 1
        guard !isEmpty else { return self = EvictionCursor() }
        let position = position(of: number)
        if isReturned(number, at: position) { returned.remove(at: position) }
    }

    /// The position of a number in `returned`, or the position at which it would be inserted.
    private func position(of number: UInt64) -> Int {
        var range = 0..<returned.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range =
                returned[middle].number > number
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    private func isReturned(_ number: UInt64, at position: Int) -> Bool {
        position < returned.count && returned[position].number == number
    }

    /// The number of a skipped entry, and whether it returned. For tests.
    func note(of place: UInt32) -> (number: UInt64, isReturned: Bool)? {
        numbers[place].map { ($0, isReturned($0, at: position(of: $0))) }
    }
}
