import CacheCore
import CacheFetching
import CacheWire
import NIOCore

/// The next step of a call, which the event loop takes after work that may have been done by another thread.
///
///     a long message    takes ──▶ one of the lines below
///     Fetch             fetches ──▶ waits, until its downloads have ended
///     Adjust            adjusts ──▶ waits, as the Fetch did before
///     Watch             watches
///     Open              sends
///     any other call    answers, once the stream before it has its last reply
enum CallStep: Sendable {
    /// The call is answered.
    case none
    /// There is no call if the message was given up.
    case takes(Result<IncomingCall, WireError>?, from: WaitingMessage, ending: RunningCall?)
    case answers(CallHeader, IncomingCall.Request, isLong: Bool)
    case refuses(CallHeader, WireError, replacing: RunningCall? = nil)
    /// There is no call if nothing follows its reply.
    case fetches(FetchCall?, isLong: Bool, replacing: RunningCall?)
    case adjusts(FetchCall, FetchCall.Change, isLong: Bool)
    /// The items of a `Fetch` that is new, or of the images that were added to it, are written.
    case waits(FetchCall, isNew: Bool)
    /// The last reply of a `Fetch` says why an image is gone again.
    case explains(FetchCall)
    case watches(Subscription.Subject, WatchSnapshot, pressure: Bool, replacing: RunningCall?)
    case sends(OpenImage, ByteBuffer, Methods.Open.Parameters)
}

extension CallDispatcher {
    func take(_ step: CallStep) {
        defer { if running == nil { hold(0) } }
        switch step {
        case .none: break
        case .takes(let call, let message, let ended):
            guard let call, waiting === message else { return release(ended) }
            waiting = nil
            dispatch(call, isLong: true, ending: ended)
        case .answers(let header, let request, let isLong):
            answer(header, request, isLong: isLong)
        case .refuses(let header, let error, let replaced):
            stopUpdates()
            reply(to: header, Reply<NoParameters>(error: error))
            release(replaced)
        case .fetches(let call, let isLong, let replaced):
            if let call { begin(call, isLong: isLong) } else { stopUpdates() }
            release(replaced)
        case .adjusts(let call, let change, let isLong):
            updates?.adjust(add: change.new.byKey, drop: change.dropped)
            perform(offLoop: isLong) { server, output in
                if !change.new.isEmpty {
                    call.writeItems(of: change.new, from: server, to: &output)
                }
                return .waits(call, isNew: false)
            }
        case .waits(let call, let isNew):
            wait(for: call)
            let late = lateOutcomes ?? []
            lateOutcomes = nil
            for outcome in late { fetchDecided(outcome) }
            if isNew {
                updates?.start(.items(digest: call.digest, follows: call.follows))
            } else {
                updates?.sendMore()
            }
        case .explains(let call): endFetch(call, offLoop: true)
        case .watches(let subject, let snapshot, let pressure, let replaced):
            subscribe(to: subject)
            running = .watch
            if pressure { updates?.watchPressure() }
            updates?.start(.changes, after: snapshot)
            release(replaced)
        case .sends(let image, let reply, let parameters):
            send(reply, with: image, parameters)
        }
    }

    /// Drops what belongs to a step, because the connection has closed in the meantime.
    func drop(_ step: CallStep) {
        switch step {
        case .none, .answers, .sends: break
        case .takes(_, _, let ended), .refuses(_, _, let ended), .watches(_, _, _, let ended):
            release(ended)
        case .fetches(let call, _, let replaced):
            release(call.map { .fetch($0) })
            release(replaced)
            // Its detached downloads may have begun after the connection closed.
            server.cache.clientLeft(client)
        case .adjusts(let call, _, _), .waits(let call, _), .explains(let call):
            release(.fetch(call))
        }
    }
}
