import CacheWire

@testable import cachectl

/// A busy cache, as the daemon reports it to `top`.
enum TopScene {
    static let time = LocalTime(
        elapsed: .milliseconds(1900), unixSecond: 1_800_000_000, utcOffset: 3600)

    /// Downloads in all phases and a failed one.
    static func downloads(_ columns: Int, _ lines: Int) -> TopModel {
        var model = TopModel(size: TerminalSize(columns: columns, lines: lines))
        model.downloadsChanged(.init(items: all, removed: []), now: .zero)
        model.downloadsChanged(.init(items: [failed(9)], removed: []), now: .zero)
        model.watchScreen()
        model.screenChanged(
            .init(items: all.map { $0.withProgress(0.8) }, removed: []), now: .seconds(1))
        model.screenChanged(
            .init(items: all.map { $0.withProgress(1) } + [failed(9)], removed: []),
            now: .seconds(2))
        return model
    }

    /// Images, some of them pinned, and a history of `Stats`.
    static func cached(_ columns: Int, _ lines: Int) -> TopModel {
        var model = TopModel(size: TerminalSize(columns: columns, lines: lines))
        for action in model.pressed(.tab, now: .zero) {
            guard case .list(let page) = action else { continue }
            _ = model.listed(page, .init(items: (0..<60).map(image)))
        }
        for second in 0..<40 {
            _ = model.sampled(stats(second), now: .seconds(second))
        }
        model.schedule.drawn(at: .zero)
        return model
    }

    /// A cache that several users share.
    static func users(_ columns: Int, _ lines: Int, count: Int = 30) -> TopModel {
        var model = downloads(columns, lines)
        let users = (0..<count).map { number in
            UserShare(
                user: 1000 + number, connections: 1 + number % 4,
                downloads: number == 7 ? 31 : number % 3, waiting: number == 7 ? 12_345 : number)
        }
        _ = model.sampled(stats(0), users: users, now: .zero)
        _ = model.pressed(.character("4"), now: .zero)
        return model
    }

    /// Images of three hosts, and downloads from a fourth.
    static func hosts(_ columns: Int, _ lines: Int) -> TopModel {
        var model = downloads(columns, lines)
        _ = model.pressed(.character("3"), now: .zero)
        let items = (0..<60).map { number in
            var item = image(number)
            item.url = "https://host-\(number % 3).example.org/\(number).jpg"
            return item
        }
        _ = model.countedHosts(.init(items: items))
        return model
    }

    /// All about a stale, pinned image.
    static func details(_ columns: Int, _ lines: Int) -> TopModel {
        var model = cached(columns, lines)
        _ = model.pressed(.enter, now: .zero)
        var item = image(4)
        (item.path, item.freshUntil) = ("/home/ada/.cache/cached/c4", 1_799_990_000)
        item.url = model.details?.url ?? ""
        model.detailed([item])
        return model
    }

    static let all: [Item] = (0..<30).map { number in
        var item = Item(
            url: "https://images.example.com/gallery/2026/holiday-\(100 + number)/elephants.jpg",
            key: "\(number)", state: .inFlight)
        let phases: [Item.Phase] = [.receiving, .receiving, .connecting, .retrying, .publishing]
        item.phase = number < 10 ? phases[number % 5] : .queued
        item.received = number < 10 ? 123_456 * (number + 1) : 0
        item.total = number == 6 || number >= 10 ? nil : 1_400_000
        if item.phase == .retrying {
            item.failure = Failure(
                kind: "transport",
                message: "could not connect to images.example.com: connection refused",
                retryAt: 1_800_000_007)
        }
        return item
    }

    /// The text of the model's screen.
    static func rows(of model: TopModel) -> [String] {
        let terminal = TerminalCapabilities(isUnicode: false, colors: .none)
        return TopScreen(model: model, terminal: terminal, time: time).canvas().text
    }

    private static func failed(_ number: Int) -> Item {
        var item = all[number]
        item.state = .missing
        item.failure = Failure(
            kind: "http", message: "the origin answered 404 Not Found", httpStatus: 404,
            retryAt: 1_800_000_600)
        return item
    }

    private static func image(_ number: Int) -> Item {
        var item = Item(
            url: "https://images.example.com/gallery/2026/holiday-\(100 + number)/elephants.jpg",
            key: "c\(number)", state: .cached)
        item.size = 22_000 + number * number * 70_000
        item.mediaType = number % 4 == 3 ? "image/svg+xml" : "image/jpeg"
        item.width = number % 4 == 3 ? nil : 640 + number
        item.height = number % 4 == 3 ? nil : 480 + number
        item.fetchedAt = 1_800_000_000 - number * number * 60
        item.lastUsedAt = 1_800_000_000 - number * 7
        item.pinned = number % 9 == 4
        return item
    }

    private static func stats(_ second: Int) -> [String: JSONValue] {
        [
            "entries": 12_345, "bytesUsed": 1_200_000_000, "bytesAllowed": 10_000_000_000,
            "entriesPinned": 3, "bytesPinned": 1_000_000, "hits": .int(second * second),
            "bytesReceived": .int((second / 5) * 400_000 + second * 1000),
            "bytesEvicted": .int(second / 10 * 1_000_000),
            "pressureSource": "/proc/pressure/memory",
            "pressureLastLevel": "warning", "pressureLastAt": .int(1_799_999_700),
            "pressureLastEntries": 212, "pressureLastBytes": 48_586_752,
        ]
    }
}

extension Item {
    fileprivate func withProgress(_ share: Double) -> Item {
        var item = self
        item.received = Int(Double(item.received ?? 0) * share)
        return item
    }
}
