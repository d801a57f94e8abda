/// How far the search for victims came: the entries it skipped because they were pinned or spared, and those
/// of them that no longer are. The latter are the next victims. So each entry is skipped once, however many
/// victims are chosen.
struct EvictionCursor {
    /// Skipped entries by their place in the index, numbered in the order of use.
    private var numbers = [UInt32: UInt64]()
    private var count = 0
    private var lastNumber: UInt64 = 0
    /// No longer pinned or spared; the least recently used is the last.
    private var returned: [(number: UInt64, place: UInt32)] = []

    var isEmpty: Bool { count == 0 }

    /// The least recently used of those that returned.
    var firstReturned: UInt32? { returned.last?.place }

    /// Skips an entry that was used more recently than all skipped before.
    mutating func pass(_ place: UInt32) {
        lastNumber += 1
        count += 1
        numbers[place] = lastNumber
    }

    /// An entry may no longer be pinned or spared.
    mutating func returns(_ place: UInt32) {
        guard !isEmpty, let number = numbers[place] else { return }
        let position = position(of: number)
        guard !isReturned(number, at: position) else { return }
        returned.insert((number, place), at: position)
    }

    /// The first of those that returned is still pinned or spared.
    mutating func firstReturnedStays() {
        returned.removeLast()
    }

    /// An entry is removed, or has another place in the order of use.
    mutating func forget(_ place: UInt32) {
        guard !isEmpty, let number = numbers.removeValue(forKey: place) else { return }
        count -= 1
        guard !isEmpty else { return self = EvictionCursor() }
        let position = position(of: number)
        if isReturned(number, at: position) { returned.remove(at: position) }
    }

    /// Where a number is among those that returned, or where it would be.
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

    /// The number of a skipped entry, and whether it returned; for tests.
    func note(of place: UInt32) -> (number: UInt64, isReturned: Bool)? {
        numbers[place].map { ($0, isReturned($0, at: position(of: $0))) }
    }
}
