import CacheCore
import CacheFetching
import CacheValues
import CacheWire
import NIOCore

/// A running `Verify`, and its replies. It ends when its caller is gone.
struct VerifyCall: Sendable {
    let verification: Verification
    /// The caller takes progress.
    let isStream: Bool
    /// The caller takes no reply at all.
    let isSilent: Bool
    /// The progress reported last.
    var report = VerificationReport()

    /// Begins. The event loop calls `onProgress` now and then, and `onEnd` once with the last reply.
    init(
        _ header: CallHeader, _ parameters: Methods.Verify.Parameters, _ client: ClientID,
        in server: ServerContext,
        onProgress: @escaping @Sendable (Verification, VerificationReport) -> Void,
        onEnd: @escaping @Sendable (Verification, ByteBuffer) -> Void
    ) {
        isStream = header.more == true
        isSilent = header.oneway == true
        verification = server.cache.verify(
            repairs: parameters.repair ?? false, client: client
        ) { verification, report in
            server.loop.execute { onProgress(verification, report) }
        } onEnd: { [isSilent] verification, report in
            var reply = ByteBuffer()
            if !isSilent { Self.write(report, from: server, to: &reply) }
            server.loop.execute { [reply] in onEnd(verification, reply) }
        }
    }

    /// The last reply of a stream that another call ends: how far it got.
    func writeLastReply(from server: ServerContext, to output: inout ByteBuffer) {
        guard isStream, !isSilent else { return }
        Self.write(report, from: server, to: &output)
    }

    /// A reply of a verification. Only the last one names the damaged entries.
    static func write(
        _ report: VerificationReport, continues: Bool = false, from server: ServerContext,
        to output: inout ByteBuffer
    ) {
        if report.failure?.kind == .shuttingDown {
            return server.replies.write(Reply<NoParameters>(error: .shuttingDown), to: &output)
        }
        output.writeString("{\"parameters\":{\"checked\":\(report.checked),\"damaged\":[")
        let start = output.readableBytes
        for (index, entry) in report.damaged.enumerated() where !continues {
            // A message is limited to 16 MiB, and URLs can be long.
            guard output.readableBytes - start < Message.maximumLength / 2 else { break }
            if index > 0 { output.writeStaticString(",") }
            write(entry, from: server, to: &output)
        }
        output.writeString("],\"total\":\(report.total),\"damagedCount\":\(report.damagedCount)")
        output.writeString(",\"leftCount\":\(report.leftCount)")
        if let failure = report.failure {
            output.writeStaticString(",\"failure\":")
            server.replies.items.write(failure, to: &output)
        }
        output.writeStaticString("}")
        output.writeStaticString(continues ? ",\"continues\":true}\0" : "}\0")
    }

    /// The entry as it is now: cached if it was downloaded again, and otherwise with a failure unless its URL is lost.
    private static func write(
        _ entry: DamagedEntry, from server: ServerContext, to output: inout ByteBuffer
    ) {
        var lookup = Lookup.missing(nil)
        switch entry.end {
        case .left(let failure): lookup = .missing(failure)
        case .removed: break
        case .refetched:
            if case .cached(let facts, _, _) = server.cache.lookup([entry.key])[0] {
                lookup = .cached(facts)
            }
        }
        (entry.url ?? "").withUTF8Bytes { url in
            server.replies.items.write(url: url, entry.key, lookup, to: &output)
        }
    }
}
