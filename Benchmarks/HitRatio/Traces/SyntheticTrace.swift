import Glibc

/// Traces made of random numbers. The same parameters give the same trace.
package struct SyntheticTrace {
    private let objects: Int
    private let count: Int
    private var random = SplitMix(seed: 44)
    private var requests: [Request] = []
    /// The number of the next object that is requested for the first and last time.
    private var nextOnce: Int

    private init(objects: Int, requests count: Int) {
        (self.objects, self.count) = (objects, count)
        nextOnce = objects
        requests.reserveCapacity(count)
    }

    /// The requests of usual programs.
    package static func usual(objects: Int, requests count: Int) -> [Trace] {
        let plain = [0.7, 0.8, 0.9, 1.0, 1.1].map { skew in
            trace("Zipf \(skew)", objects, count) { $0.addZipf(skew) }
        }
        return plain + [
            trace("0.9, a tenth become popular in turn", objects, count) {
                $0.addZipf(0.9, drift: 0.1)
            },
            trace("0.9, and ten scans of new images", objects, count) { $0.addScans() },
            trace("0.9, and as many one-time images", objects, count) {
                $0.addFeed(isOpened: false)
            },
            trace("the same, each opened at once", objects, count) { $0.addFeed(isOpened: true) },
        ]
    }

    /// Every object is once the most popular, so the popular ones of a moment are soon useless.
    package static func fickle(objects: Int, requests count: Int) -> Trace {
        trace("0.9, all become popular in turn", objects, count) { $0.addZipf(0.9, drift: 1) }
    }

    private static func trace(
        _ name: String, _ objects: Int, _ count: Int, _ fill: (inout SyntheticTrace) -> Void
    ) -> Trace {
        var trace = SyntheticTrace(objects: objects, requests: count)
        fill(&trace)
        return Trace(name: name, requests: trace.requests)
    }

    // MARK: Kinds

    /// - Parameter drift: the share of the objects that are once the most popular during the trace.
    private mutating func addZipf(_ skew: Double, drift: Double = 0) {
        let ranks = ZipfRanks(count: objects, skew: skew)
        for number in 0..<count {
            let shift = Int(Double(number) * Double(objects) / Double(count) * drift)
            add((ranks.next(&random) + shift) % objects)
        }
    }

    /// A tenth of all requests go through new images one after the other, in ten scans.
    private mutating func addScans() {
        let ranks = ZipfRanks(count: objects, skew: 0.9)
        let stretch = count / 10
        for _ in 0..<10 {
            for _ in 0..<stretch * 9 / 10 { add(ranks.next(&random)) }
            for _ in 0..<stretch / 10 { addOnce() }
        }
    }

    private mutating func addFeed(isOpened: Bool) {
        let ranks = ZipfRanks(count: objects, skew: 0.9)
        for number in 0..<count {
            if number.isMultiple(of: 2) { addOnce() } else { add(ranks.next(&random)) }
            if isOpened, let last = requests.last { requests.append(last) }
        }
    }

    // MARK: Requests

    private mutating func addOnce() {
        add(nextOnce)
        nextOnce += 1
    }

    /// One request a second.
    private mutating func add(_ object: Int) {
        let second = UInt32(clamping: requests.count)
        requests.append(Request(object: object, bytes: Self.bytes(of: object), second: second))
    }

    /// Blocks of 4 KiB. The sizes are spread like a log-normal distribution around 20 kB.
    private static func bytes(of object: Int) -> Int64 {
        var random = SplitMix(seed: UInt64(object) << 20)
        let (one, other) = (
            Double.random(in: 1e-9..<1, using: &random), Double.random(in: 0..<1, using: &random)
        )
        let normal = (-2 * log(one)).squareRoot() * cos(2 * .pi * other)
        let bytes = min(max(20_000 * exp(normal), 200), 5_000_000)
        return (Int64(bytes) + 4095) / 4096 * 4096
    }
}
