import CacheWire

/// What a person does.
extension TopModel {
    mutating func pressed(_ key: Key, now: Duration) -> [Wish] {
        say(nil, now: now)
        isEndWanted = view == .cached && [.end, .character("G")].contains(key)
        if let question {
            self.question = nil
            return key == .character("y") ? answered(question) : []
        }
        switch key {
        case .character("q"): return [.quit]
        case .tab: return show(view == .downloads ? .cached : .downloads, now: now)
        case .character("1"): return show(.downloads, now: now)
        case .character("2"): return show(.cached, now: now)
        default:
            if let steps = steps(key) { return moved(by: steps) }
            return view == .cached ? pressedInCached(key) : pressedInDownloads(key)
        }
    }

    private mutating func pressedInDownloads(_ key: Key) -> [Wish] {
        guard key == .character("c") else { return [] }
        let lost = table.clearFailures(firstOnScreen: downloadRows.offset)
        downloadRows.lost(above: lost)
        layOut()
        return []
    }

    private mutating func pressedInCached(_ key: Key) -> [Wish] {
        switch key {
        case .character("n"): return ordered(.newest)
        case .character("l"): return ordered(.largest)
        case .character("u"): return ordered(.unused)
        default: break
        }
        guard let chosen, !chosen.url.isEmpty else { return [] }
        switch key {
        case .character("p"): return [.pin(chosen.url, chosen.pinned != true)]
        case .character("r"):
            refreshing.insert(chosen.url)
            return [.refresh(chosen.url)]
        case .character("x"):
            question = .remove(url: chosen.url)
            return []
        default: return []
        }
    }

    private mutating func answered(_ question: Question) -> [Wish] {
        switch question {
        case .remove(let url):
            refreshing.remove(url)
            return [.remove(url)]
        }
    }

    private mutating func show(_ other: View, now: Duration) -> [Wish] {
        guard other != view else { return [] }
        view = other
        nextSample = other == .cached ? now + FramePace.sample : nil
        guard other == .cached else { return [] }
        return [.stats] + ordered(cached.order)
    }

    private mutating func ordered(_ order: CachedOrder) -> [Wish] {
        cachedRows = Viewport()
        let page = cached.begin(order)
        layOut()
        return [.list(page)]
    }

    private func steps(_ key: Key) -> Int? {
        let page = max(1, (view == .cached ? cachedRows : downloadRows).height - 1)
        return switch key {
        case .up, .character("k"): -1
        case .down, .character("j"): 1
        case .pageUp, .character("b"): -page
        case .pageDown, .character(" "): page
        case .home, .character("g"): -.max / 2
        case .end, .character("G"): .max / 2
        default: nil
        }
    }

    private mutating func moved(by steps: Int) -> [Wish] {
        switch view {
        case .downloads:
            downloadRows.scroll(by: steps)
            return []
        case .cached:
            cachedRows.choose(by: steps)
            return moreOfList()
        }
    }

    mutating func moreOfList() -> [Wish] {
        let page = cached.wanted(seen: cachedRows.range.upperBound, isEndWanted: isEndWanted)
        return page.map { [.list($0)] } ?? []
    }
}
