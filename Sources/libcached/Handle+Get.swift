import CCached
import CClient

#if canImport(ClientCore)
    import ClientCore
#endif

/// Waiting for one image, on a connection of its own.
extension Handle {
    /// The state, or a negative errno. Less than 0 milliseconds stand for no limit.
    func get(
        _ request: Request, isRefresh: Bool, _ milliseconds: Int32,
        _ room: UnsafeMutablePointer<cached_image>
    ) -> Int32 {
        guard session.isOwners else { return -EPERM }
        forgetTexts()
        var latest = cached_image()
        if isRefresh, milliseconds == 0, script == nil {
            let result = SingleCall.refresh(
                request.bytes, request.priority, request.terms, session.place
            ) { event, texts in
                latest = image(event, texts)
                keepTexts(&latest)
            }
            guard result == 0 else { return result }
            guard store(latest, in: room) else { return -EINVAL }
            return latest.state == Event.State.failed.rawValue ? latest.state : -ETIMEDOUT
        }
        if !isRefresh, let fresh = stored(request, mustBeFresh: true) { latest = fresh }
        if latest.state != Event.State.cached.rawValue, latest.state != Event.State.failed.rawValue
        {
            let own = isRefresh ? refreshing() : getting()
            guard own.isUsable else { return -EMFILE }
            (own.patience, own.place) = (session.patience, session.place)
            own.add(request.bytes, request.priority, request.terms)
            defer { own.drop(request.bytes) }
            (latest.url, latest.total) = (request.url, -1)
            keepTexts(&latest)
            let end = milliseconds < 0 ? Int64.max : cclient_now() + Int64(milliseconds)
            let isOver = wait(on: own, until: end, &latest)
            // Without a daemon, nothing better than the image that is here can be had.
            if latest.kind.map({ Places.bytes($0) == StaticText.bytes("noDaemon") }) ?? false,
                var here = stored(request, mustBeFresh: false)
            {
                (here.kind, here.message) = (latest.kind, latest.message)
                latest = here
            }
            if latest.state != Event.State.cached.rawValue, !isOver {
                return store(latest, in: room) ? -ETIMEDOUT : -EINVAL
            }
        }
        return store(latest, in: room) ? latest.state : -EINVAL
    }

    private func getting() -> Session {
        let own = getter ?? script.map { Session($0) } ?? Session(session.place)
        getter = own
        return own
    }

    private func refreshing() -> Session {
        let options = StreamOptions(refresh: true)
        let own = refresher ?? script.map { Session($0) } ?? Session(session.place, options)
        refresher = own
        return own
    }

    /// Waits until the image has its last state. Returns `false` if the time is over before that.
    private func wait(on session: Session, until end: Int64, _ latest: inout cached_image) -> Bool {
        while true {
            while let isLast = session.next({ event, texts in
                self.forgetTexts()
                latest = image(event, texts)
                let isRemoved = event.state == .missing && self.script == nil
                if isRemoved { refuse(&latest, "removed", "the image was removed; ask again") }
                self.keepTexts(&latest)
                // An image that is being refreshed is not the last one.
                return isRemoved || event.state == .failed
                    || (event.state == .cached && event.phase == nil)
            }) {
                if isLast { return true }
            }
            let left = end - cclient_now()
            guard left > 0, script == nil else { return false }
            _ = cclient_wait(session.descriptor, 0, Int32(clamping: left))
        }
    }

    /// The image in the directory if it can be the answer; of a type that is not accepted, a failure.
    private func stored(_ request: Request, mustBeFresh: Bool) -> cached_image? {
        guard script == nil else { return nil }
        var (image, found) = look(request.url, self, standIn: false)
        guard found.state == .cached, !mustBeFresh || time(nil) < Int(found.freshUntil) else {
            return nil
        }
        let type = found.type.literal
        let name = UnsafeBufferPointer(start: type.utf8Start, count: type.utf8CodeUnitCount)
        if found.type != .other, !request.terms.accepts(name) {
            refuse(
                &image, "notAccepted",
                "the image is of a type that the request does not accept; it stays cached")
        }
        keepTexts(&image)
        return image
    }

    /// Adds a state to the script. Returns 0 or a negative errno.
    func addState(_ image: cached_image) -> Int32 {
        guard let script, let url = image.url, let state = Event.State(rawValue: image.state) else {
            return -EINVAL
        }
        var (event, texts): (Event, [UInt8]) = (Event(), [])
        func append(_ text: UnsafePointer<CChar>?) -> Int? {
            guard let text else { return nil }
            defer { texts += Places.bytes(text) + [0] }
            return texts.count
        }
        event.state = state
        (event.received, event.total) = (image.received, image.total)
        (event.width, event.height) = (image.width, image.height)
        (event.httpStatus, event.retryAt) = (image.http_status, image.retry_at)
        (event.freshUntil, event.isPinned) = (image.fresh_until, image.pinned != 0)
        event.phase = Event.Phase(rawValue: image.phase &- 1)
        (event.url, event.path) = (append(url), append(image.path))
        event.mediaType = append(image.media_type)
        (event.kind, event.message) = (append(image.kind), append(image.message))
        let bytes = UnsafeRawBufferPointer(start: url, count: strlen(url))
        script.add(ImageName(url: bytes), event, texts)
        session.stateAdded(ImageName(url: bytes))
        return 0
    }
}
