import Glibc

/// Ranks from 0, of which each is drawn in proportion to 1 / (rank + 1) to a power.
struct ZipfRanks {
    /// The sums of the weights up to each rank.
    private let sums: [Double]

    init(count: Int, skew: Double) {
        var sum = 0.0
        sums = (0..<count).map { rank in
            sum += pow(Double(rank + 1), -skew)
            return sum
        }
    }

    func next(_ random: inout SplitMix) -> Int {
        let drawn = Double.random(in: 0..<(sums.last ?? 1), using: &random)
        var range = 0..<sums.count - 1
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range =
                sums[middle] <= drawn
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
