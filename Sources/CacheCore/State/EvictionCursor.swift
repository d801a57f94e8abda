/// Entries that a search for victims went past because they were pinned or spared, by their places, and those
/// of them that are no longer: these are the next to go. So each is gone past once, however many victims are
/// chosen.
struct EvictionCursor {
    /// They are numbered in the order of use.
    private var numbers = Shards<UInt32, UInt64>()
    private var count = 0
    private var lastNumber: UInt64 = 0
    /// Pinned or spared no longer; the least recently used is the last.
    private var returned: [(number: UInt64, place: UInt32)] = []

    var isEmpty: Bool { count == 0 }

    /// The least recently used that returned.
    var firstReturned: UInt32? { returned.last?.place }

    /// One is gone past that was used more recently than all before.
    mutating func pass(_ place: UInt32) {
        lastNumber += 1
        count += 1
        numbers[place] = lastNumber
    }

    /// One may be neither pinned nor spared any more.
    mutating func returns(_ place: UInt32) {
        guard !isEmpty, let number = numbers[place] else { return }
        let position = position(of: number)
        guard !isReturned(number, at: position) else { return }
        returned.insert((number, place), at: position)
    }

    /// The first that was said to have returned is pinned or spared still.
    mutating func firstReturnedStays() {
        returned.removeLast()
    }

    /// One is removed, or has another place in the order of use.
    mutating func forget(_ place: UInt32) {
        guard !isEmpty, let number = numbers.removeValue(forKey: place) else { return }
        count -= 1
        guard !isEmpty else { return self = EvictionCursor() }
        let position = position(of: number)
        if isReturned(number, at: position) { returned.remove(at: position) }
    }

    /// Where a number is among those that returned, or would be.
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

    /// The number of one, and whether it returned; for tests.
    func note(of place: UInt32) -> (number: UInt64, isReturned: Bool)? {
        numbers[place].map { ($0, isReturned($0, at: position(of: $0))) }
    }
}
