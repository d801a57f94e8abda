import CacheWire
import Foundation
import Testing

@testable import cachectl

/// The states as `Tests/Vectors/faces.json` has them for every program that shows the cache.
@Suite struct FacesTests {
    private static let now = 1_800_000_000
    private static let time = LocalTime(elapsed: .zero, unixSecond: now, utcOffset: 0)

    private struct Face {
        var state: String
        var item: Item
        var share: Double?
        var isComing: Bool
        var text: String
        var words: String?
        var event: HistoryEvent?
        var marks: [String]
    }

    private static func faces() throws -> [Face] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Vectors/faces.json")
        let all = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [[String: Any]]
        return try (all ?? []).map { face in
            var members = face["item"] as? [String: Any] ?? [:]
            (members["url"], members["key"]) = ("https://example.com/a.png", "k")
            var item = try JSONDecoder().decode(
                Item.self, from: JSONSerialization.data(withJSONObject: members))
            if let seconds = face["freshIn"] as? Int { item.freshUntil = now + seconds }
            if let seconds = face["retryIn"] as? Int { item.failure?.retryAt = now + seconds }
            let event = face["event"] as? [String: String]
            return Face(
                state: face["state"] as? String ?? "", item: item,
                share: face["share"] as? Double, isComing: face["isComing"] as? Bool ?? false,
                // Of its place in the queue, `top` knows nothing: the daemon's list has no such order.
                text: face["place"] == nil ? face["text"] as? String ?? "" : "",
                words: face["words"] as? String,
                event: event.flatMap { event in
                    event["kind"].flatMap { HistoryKind(rawValue: $0) }.map { kind in
                        HistoryEvent(
                            at: now, kind: kind, key: "k", url: "",
                            reason: event["reason"].flatMap { HistoryReason(rawValue: $0) })
                    }
                },
                marks: face["marks"] as? [String] ?? [])
        }
    }

    @Test func statesAndMarksAreThoseOfAllPrograms() throws {
        let faces = try Self.faces()
        #expect(faces.count >= 19)
        for face in faces {
            let state = ImageState(face.item, now: Self.now)
            #expect(state.rawValue == face.state && state.isComing == face.isComing)
            let marks = ImageState.marks(of: face.item, now: Self.now)
            #expect(marks.map(\.rawValue) == face.marks)
            if let words = face.words {
                let text = face.item.stateText(now: Self.now, event: face.event)
                #expect(text.hasPrefix(words), "\(text)")
            }
        }
        let states = Set(faces.map(\.state) + ["stale", "pinned"])
        #expect(states == Set(ImageState.allCases.map(\.rawValue)))
    }

    @Test(arguments: [true, false])
    func rowsHaveTheSignTheShareAndTheText(isUnicode: Bool) throws {
        let terminal = TerminalCapabilities(isUnicode: isUnicode, colors: .none)
        for face in try Self.faces() {
            let row = DownloadLine(terminal: terminal, columns: 100, time: Self.time)
                .line(DownloadProgress(face.item)).text
            let state = ImageState(face.item, now: Self.now)
            let share = (face.share ?? 0) / 100
            let sign = Sign(terminal: terminal).line(state, fraction: share).text
            #expect(row.hasPrefix(sign + " ") && row.hasSuffix("example.com/a.png"), "\(row)")
            #expect(face.text.isEmpty || row.contains(face.text), "\(row)")
            guard state == .receiving || state == .publishing else { continue }
            #expect(row.contains(Bar(terminal: terminal, width: 6).line(share).text), "\(row)")
        }
    }

    @Test func listsHaveTheMarks() throws {
        let terminal = TerminalCapabilities(isUnicode: true, colors: .none)
        for face in try Self.faces() where face.item.state == .cached {
            var model = TopModel(size: TerminalSize(columns: 100, lines: 10))
            for case .list(let page) in model.pressed(.tab, now: .zero) {
                _ = model.listed(page, .init(items: [face.item]))
            }
            let screen = TopScreen(model: model, terminal: terminal, time: Self.time)
            let row = try #require(CachedView(screen: screen).rows.first?.text)
            let signs: [String: Character] = ["stale": "◷", "pinned": "◆", "failed": "!"]
            #expect(
                row.dropFirst().prefix(while: { $0 != " " }).map { $0 }
                    == face.marks.map { signs[$0] })
        }
    }

    /// Only what comes is animated, and nothing is while the help explains it.
    @Test func onlyWhatComesMoves() throws {
        for face in try Self.faces() where face.item.isInFlight {
            var model = TopModel(size: TerminalSize(columns: 100, lines: 10))
            model.downloadsChanged(.init(items: [face.item], removed: []), now: .zero)
            model.watchScreen()
            model.screenChanged(.init(items: [face.item], removed: []), now: .zero)
            #expect(model.isMoving == face.isComing, "\(face.state)")
        }
    }
}
