import ArgumentParser
import Glibc
import HitRatio

/// `hit-ratio`: how much of what is requested a full cache holds.
struct HitRatios: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hit-ratio",
        abstract: "Replay requests through the cache's index and through models of other caches.",
        discussion: """
            Prints the percentages of requests and of bytes that were hits, for caches of 1 % and 10 % of the bytes \
            of all images. A trace has lines `SECONDS OBJECT BYTES`. Without one, synthetic traces are replayed.
            """)

    @Argument(help: "Files with traces.")
    var traces: [String] = []

    @Option(help: "The number of images of a synthetic trace.")
    var objects = 100_000

    @Option(help: "The number of requests of a synthetic trace.")
    var requests = 1_000_000

    func validate() throws {
        guard objects >= 10, requests >= 100 else {
            throw ValidationError("A trace needs at least 10 images and 100 requests.")
        }
    }

    func run() throws {
        print(HitRatioTable.heading)
        if traces.isEmpty {
            for trace in SyntheticTrace.usual(objects: objects, requests: requests) { show(trace) }
            show(SyntheticTrace.fickle(objects: objects, requests: requests))
        }
        for path in traces { show(try read(path)) }
    }

    private func show(_ trace: Trace) {
        for row in HitRatioTable(trace).rows { print(row) }
        fflush(nil)
    }

    private func read(_ path: String) throws -> Trace {
        guard let file = fopen(path, "r") else {
            throw ValidationError("cannot open \(path): \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var (buffer, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        defer { free(buffer) }
        let lines = sequence(state: ()) { _ -> String? in
            guard getline(&buffer, &capacity, file) >= 0, let line = buffer else { return nil }
            return String(cString: line).trimmedNewline
        }
        do throws(MalformedLine) {
            return try Trace(name: path, lines: lines)
        } catch {
            throw ValidationError("\(path): \(error)")
        }
    }
}

extension String {
    fileprivate var trimmedNewline: String { String(split(separator: "\n").first ?? "") }
}
