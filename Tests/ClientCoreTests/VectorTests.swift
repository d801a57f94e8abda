import Foundation
import Glibc
import Testing

@testable import ClientCore
@testable import TestSupport

/// The names and transcripts of `Tests/Vectors`, in the mode of the compiler in which the Swift library is built.
@Suite(.serialized, .timeLimit(.minutes(5))) struct VectorTests {
    private struct Name: Decodable {
        var url: String
        var name: String
    }

    private struct Transcript: Decodable {
        struct Event: Decodable, Hashable {
            var url: String
            var state: String
            var phase: String?
            var received: Int64?
            var total: Int64?
            var size: Int64?
            var path: String?
            var failure: String?
        }

        var name: String
        var wants: [String]
        var text: String?
        var hex: String?
        var limit: Int?
        var events: [Event]
        var end: String

        var bytes: [UInt8] {
            let digits = Array((hex ?? "").utf8)
            return text.map { Array($0.utf8) }
                ?? stride(from: 0, to: digits.count, by: 2).compactMap {
                    UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
                }
        }
    }

    private struct Found: Equatable {
        var events: [Transcript.Event] = []
        var isOpen = true

        /// Without events that are like the last one of their URL.
        mutating func append(_ event: Transcript.Event) {
            if events.last(where: { $0.url == event.url }) != event { events.append(event) }
        }

        var newest: Set<Transcript.Event> {
            Set(events.reduce(into: [:]) { $0[$1.url] = $1 }.values)
        }
    }

    private func read<Vector: Decodable>(_ name: String) throws -> [Vector] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Vectors/\(name).json").standardized.path(percentEncoded: false)
        return try JSONDecoder().decode([Vector].self, from: Data(try contents(of: file)))
    }

    @Test func namesAreThoseOfTheVectors() throws {
        let vectors: [Name] = try read("names")
        #expect(vectors.count >= 500)
        for vector in vectors {
            let name = Array(vector.url.utf8).withUnsafeBytes { ImageName(url: $0) }
            let text = String(unsafeUninitializedCapacity: ImageName.length) { room in
                room.baseAddress.map { name.write(to: $0) }
                return ImageName.length
            }
            #expect(text == vector.name, "\(vector.url)")
        }
    }

    /// The bytes arrive one by one, and in two pieces that are cut at every place.
    ///
    /// A session has one kind of stream. It connects again after each end of a stream.
    @Test func transcriptsAreReadHoweverTheyAreCut() async throws {
        // A session has the daemon's limit, so a transcript with another one ends otherwise.
        let vectors = try (read("transcripts") as [Transcript]).filter { $0.limit == nil }
        #expect(vectors.count >= 200)
        try await withTestScope { scope in
            let path = try TemporaryDirectory(in: scope).file("socket")
            let listener = try Socket.listen(onUnix: path)
            scope.atEnd { listener.close() }
            for vector in vectors {
                let expected = expected(vector)
                let bytes = vector.bytes
                let single = try play(vector, bytes.map { [$0] }, path, listener)
                #expect(single == expected, "\(vector.name), byte by byte")
                for cut in 0...bytes.count {
                    let found = try play(
                        vector, [Array(bytes[..<cut]), Array(bytes[cut...])], path, listener)
                    #expect(
                        found.newest == expected.newest && found.isOpen == expected.isOpen,
                        "\(vector.name), cut after \(cut)")
                }
            }
        }
    }

    private func expected(_ vector: Transcript) -> Found {
        var found = Found(isOpen: vector.end == "open")
        for var event in vector.events {
            // A later daemon's phase is unknown to a library with a type for it.
            if !Event.Phase.all.contains(where: { "\($0)" == event.phase }) { event.phase = nil }
            if event.state == "cached" { (event.received, event.total) = (event.size, event.size) }
            event.size = nil
            event.received = event.received ?? 0
            found.append(event)
        }
        return found
    }

    private func play(
        _ vector: Transcript, _ pieces: [[UInt8]], _ path: String, _ listener: Socket
    ) throws -> Found {
        // On a busy machine the session before can have connected again.
        while listener.wait(orInput: true, within: .zero) == .readable {
            listener.accept()?.close()
        }
        let session = Session(DaemonPlace(sockets: [Array(path.utf8)]))
        session.want(vector.wants.map { (Array($0.utf8), .normal) })
        let daemon = try #require(listener.accept())
        defer { daemon.close() }
        var found = Found()
        for piece in pieces where found.isOpen && !piece.isEmpty {
            try #require(daemon.send(piece))
            while let event = session.next({ event($0, $1) }) { found.append(event) }
            found.isOpen = !hasEnded(daemon)
        }
        return found
    }

    /// Whether the session has closed its end. Reads what it has sent.
    private func hasEnded(_ daemon: Socket) -> Bool {
        while daemon.wait(orInput: true, within: .zero) != .timedOut {
            guard let call = daemon.receive(upTo: 1 << 16), !call.isEmpty else { return true }
        }
        return false
    }

    private func event(
        _ event: Event, _ texts: UnsafeBufferPointer<UInt8>
    ) -> Transcript.Event {
        func text(_ start: Int?) -> String? {
            start.map { String(decoding: texts[$0...].prefix { $0 != 0 }, as: UTF8.self) }
        }
        return Transcript.Event(
            url: text(event.url) ?? "", state: "\(event.state)",
            phase: event.phase.map { "\($0)" }, received: event.received,
            total: event.total < 0 ? nil : event.total, path: text(event.path),
            failure: text(event.kind))
    }
}
