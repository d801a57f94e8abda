import Foundation
import Glibc
import StubDaemon
import TestSupport
import Testing

/// The drawings of the states: `docs/lookup/states.md`, with the faces of all programs in `Tests/Vectors/faces.json`.
extension CachedGTKTests {
    /// A face that the vectors have.
    private struct Face {
        let state: String
        let ring: String?
        let share: Int?
        let text: String
        let marks: [String]
        let isComing: Bool
        /// Whether there is a picture, perhaps under the ring of a refresh.
        let isCached: Bool
        /// The item as the daemon reports it, in the place of `URL`.
        let json: String
        let description: String

        /// `nil` if the library draws another one: an image that is gone without a picture is coming.
        init?(_ face: [String: Any], number: Int, file: String) throws {
            var item = face["item"] as? [String: Any] ?? [:]
            state = face["state"] as? String ?? ""
            isCached = item["state"] as? String == "cached"
            if state == "gone" { return nil }
            let now = Int(Date().timeIntervalSince1970)
            if isCached { item["path"] = file }
            if let seconds = face["freshIn"] as? Int { item["freshUntil"] = now + seconds }
            // So long that the ring is full while it is looked at.
            if let seconds = face["retryIn"] as? Int,
                var failure = item["failure"] as? [String: Any]
            {
                failure["retryAt"] = now + 100 * seconds
                item["failure"] = failure
            }
            (item["url"], item["key"]) = ("URL", "k")
            json = String(
                decoding: try JSONSerialization.data(withJSONObject: item), as: UTF8.self)
            // The library does not tell how much of a refresh has arrived.
            let isRefresh = isCached && item["phase"] != nil
            ring = isRefresh ? "turning" : face["ring"] as? String
            share = face["share"] as? Int
            text = isRefresh ? "" : face["text"] as? String ?? ""
            marks = face["marks"] as? [String] ?? []
            isComing = face["isComing"] as? Bool ?? false
            let words = face["words"] as? String ?? ""
            let end =
                switch state {
                case "cached": ""
                case "failed": ": " + words
                case "receiving", "unmeasured": ", receiving"
                default: ", " + words.prefix(1).lowercased() + words.dropFirst()
                }
            description = "\(number).png" + end
        }

        static func all(file: String) throws -> [(number: Int, face: Face)] {
            let path = Libcached.root + "Tests/Vectors/faces.json"
            let all =
                try JSONSerialization.jsonObject(with: Data(contents(of: path)))
                as? [[String: Any]]
            return try (all ?? []).enumerated().compactMap { number, face in
                try Face(face, number: number, file: file).map { (number, $0) }
            }
        }
    }

    /// What the driver has measured.
    private struct Drawing {
        /// How many pieces of the ring are filled, and how much of it is filled and empty, in percent.
        let runs, filled, empty: Int
        let hasText, shimmers, turns: Bool
        /// A grey of the picture.
        let shade: Int
        /// A number for each mark.
        let marks: [String]

        static func all(in text: String) -> [(name: String, drawing: Drawing)] {
            text.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ").map { String($0) }
                guard words.first == "face", words.count >= 9 else { return nil }
                let numbers = words[2..<9].map { Int($0) ?? -1 }
                return (
                    words[1],
                    Drawing(
                        runs: numbers[0], filled: numbers[1], empty: numbers[2],
                        hasText: numbers[3] == 1, shimmers: numbers[4] == 1,
                        turns: numbers[5] == 1, shade: numbers[6], marks: Array(words[9...]))
                )
            }
        }

        /// Whether its ring is of a kind.
        func isRing(_ kind: String?, share: Int?, moves: Bool) -> Bool {
            switch kind {
            case "hollow": runs == 0 && empty > 95
            case "dotted": runs == 12 && filled < 50
            // It is never ahead.
            case "filled", "open", "counting":
                runs == 1 && filled + empty > 97 && (-4...1).contains(filled - (share ?? -1))
            case "turning":
                moves ? runs == 1 && (27...33).contains(filled) : runs == 3 && filled < 20
            case "halved": runs == 2 && (moves ? (45...55).contains(filled) : filled < 20)
            default: true
            }
        }
    }

    @Test(arguments: [true, false])
    func everyStateHasItsDrawing(moves: Bool) async throws {
        try await withTestScope { scope in
            let folder = try TemporaryDirectory(in: scope)
            // Clients take no path but that of an image.
            let file = folder.file("6fe2c6c6-ff23-5892-9fcd-df99242e7264")
            try Data(SampleImage.png(width: 320, height: 240, seed: 90))
                .write(to: URL(filePath: file))
            let faces = try Face.all(file: file)
            #expect(Set(faces.map(\.face.state)).count == 9)
            let items = faces.map { ("http://a.example/\($0.number).png", $0.face.json) }
            // It hands the picture over with each answer, of which one is to `Open`.
            let picture = open(file, O_RDONLY | O_CLOEXEC)
            defer { close(picture) }
            let stub = try StubDaemon(with: [picture]) { call in
                if call.contains(".Open\"") { lseek(picture, 0, SEEK_SET) }
                return Self.urls(in: call).map { url in
                    let original = String(url.prefix { $0 != "#" })
                    let item = items.first { $0.0 == original }?.1 ?? ""
                    return Self.reply(item.replacing(#""URL""#, with: #""\#(url)""#))
                }
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let words = zip(items, faces).flatMap { [$0.0, $1.face.description] }
            let text = try await runDriver(
                [["faces", moves ? "moving" : "still"] + words], daemon, socket: stub.path,
                in: scope)
            let drawings = Drawing.all(in: text)
            try #require(drawings.map(\.name) == items.map(\.0), "\(text)")
            var marks: [String: Set<String>] = [:]
            for ((number, face), (_, drawing)) in zip(faces, drawings) {
                let name = "\(number), \(face.state): \(drawing)"
                #expect(drawing.isRing(face.ring, share: face.share, moves: moves), "\(name)")
                #expect(face.ring == nil || drawing.hasText != face.text.isEmpty, "\(name)")
                #expect(
                    drawing.shimmers == (face.isComing && moves && !face.isCached), "\(name)")
                let turns = moves && !face.isCached && ["turning", "halved"].contains(face.ring)
                #expect(drawing.turns == turns, "\(name)")
                #expect(drawing.marks.count == face.marks.count, "\(name)")
                #expect(!face.isCached || drawing.shade == 90, "\(name)")
                for (mark, drawn) in zip(face.marks, drawing.marks) {
                    marks[mark, default: []].insert(drawn)
                }
            }
            // Each mark always looks the same, and like no other.
            #expect(marks.count == 3 && marks.values.allSatisfy { $0.count == 1 })
            #expect(Set(marks.values.joined()).count == 3)
        }
    }

    @Test func aPictureWhoseImageIsGoneIsDimWhereMarksAreWanted() async throws {
        try await withTestScope { scope in
            let images = try Images(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let text = try await runDriver(
                [["gone", try BuiltProducts.program("cachectl"), images.photo]], daemon, in: scope)
            let drawings = Drawing.all(in: text).map(\.drawing)
            try #require(drawings.count == 4, "\(text)")
            #expect(drawings.map(\.marks.count) == [0, 0, 0, 1])
            #expect(drawings.prefix(3).allSatisfy { $0.shade == 90 } && drawings[3].shade > 150)
            #expect(drawings.allSatisfy { !$0.shimmers })
        }
    }
}
