import CacheCore
import CacheWire
import NIOCore

/// A `Verify` that runs.
struct VerifyCall {
    let verification: Verification
    /// The caller takes progress.
    let isStream: Bool
    /// The caller takes no answer at all.
    let isSilent: Bool
    /// What was reported last.
    var report = VerificationReport()
}

/// `Verify`: for as long as the caller is there.
extension Connection {
    func verify(
        _ header: CallHeader, _ parameters: Methods.Verify.Parameters
    ) throws(WireError) {
        guard !desk.hub.isDraining else { throw .shuttingDown }
        guard let loop = context?.eventLoop else { return }
        let connection = NIOLoopBound(self, eventLoop: loop)
        let (desk, isSilent) = (desk, header.oneway == true)
        let verification = desk.cache.verify(
            repairs: parameters.repair ?? false, client: client
        ) { verification, report in
            loop.execute { connection.value.progressed(verification, report) }
        } onEnd: { verification, report in
            let reply = isSilent ? ByteBuffer() : desk.reply(report)
            loop.execute { connection.value.ended(verification, reply) }
        }
        running = .verify(
            VerifyCall(
                verification: verification, isStream: header.more == true, isSilent: isSilent))
    }

    private func progressed(_ verification: Verification, _ report: VerificationReport) {
        guard case .verify(var call)? = running, call.verification === verification else { return }
        call.report = report
        running = .verify(call)
        guard call.isStream, !call.isSilent, context?.channel.isWritable == true else { return }
        desk.write(report, continues: true, to: &output)
        flush()
    }

    private func ended(_ verification: Verification, _ reply: ByteBuffer) {
        guard case .verify(let call)? = running, call.verification === verification else { return }
        send(reply)
        finished()
    }
}

extension Desk {
    /// The last reply of a verification.
    fileprivate func reply(_ report: VerificationReport) -> ByteBuffer {
        var reply = ByteBuffer()
        write(report, to: &reply)
        return reply
    }

    /// A reply of a verification. Damaged entries are named in the last one.
    func write(
        _ report: VerificationReport, continues: Bool = false, to output: inout ByteBuffer
    ) {
        if report.failure?.kind == .shuttingDown {
            return replies.write(Reply<NoParameters>(error: .shuttingDown), to: &output)
        }
        output.writeString("{\"parameters\":{\"checked\":\(report.checked),\"damaged\":[")
        let start = output.readableBytes
        for (index, entry) in report.damaged.enumerated() where !continues {
            // A message has 16 MiB; URLs may be long.
            guard output.readableBytes - start < Message.maximumLength / 2 else { break }
            if index > 0 { output.writeStaticString(",") }
            write(entry, to: &output)
        }
        output.writeString("],\"total\":\(report.total),\"damagedCount\":\(report.damagedCount)")
        output.writeString(",\"leftCount\":\(report.leftCount)")
        if let failure = report.failure {
            output.writeStaticString(",\"failure\":")
            replies.items.write(failure, to: &output)
        }
        output.writeStaticString("}")
        output.writeStaticString(continues ? ",\"continues\":true}\0" : "}\0")
    }

    /// As it is now: `cached` if it was downloaded anew, without a failure unless it is still damaged.
    private func write(_ entry: DamagedEntry, to output: inout ByteBuffer) {
        var lookup = Lookup.missing(nil)
        switch entry.end {
        case .left(let failure): lookup = .missing(failure)
        case .removed: break
        case .refetched:
            if case .cached(let facts, _, _) = cache.lookup([entry.key])[0] {
                lookup = .cached(facts)
            }
        }
        (entry.url ?? "").withUTF8Bytes { url in
            replies.items.write(url: url, entry.key, lookup, to: &output)
        }
    }
}
