import CacheWire
import Testing

@testable import cachectl

@Suite struct TopModelTests {
    @Test func onlyVisibleRowsAreWatched() {
        var model = TopScene.downloads(80, 24)
        let first = model.urlsOnScreen
        #expect(first.count == 21)
        _ = model.pressed(.end, now: .zero)
        let second = model.urlsOnScreen
        #expect(second.count == 21 && second != first)
        model.watchScreen()
        // The failed one stays as it is.
        #expect(Set(model.watched.keys) == Set(second.filter { !$0.contains("holiday-109") }))
        _ = model.pressed(.tab, now: .zero)
        #expect(model.urlsOnScreen.isEmpty)
        model.watchScreen()
        #expect(model.watched.isEmpty && !model.isMoving)
    }

    @Test func overallFractionIncludesRowsOutsideTheScreen() throws {
        var model = TopScene.downloads(80, 24)
        let share = try #require(model.overall?.fraction)
        #expect(share > 0.05)
        for key in [Key.pageDown, .pageUp, .tab, .tab] {
            _ = model.pressed(key, now: .zero)
            model.watchScreen()
            #expect(model.overall?.fraction == share)
        }
    }

    @Test func animationsAreDrawnTenTimesASecond() {
        var model = TopScene.downloads(80, 24)
        #expect(model.nextFrame == .zero && model.isMoving)
        _ = model.advanced(to: .seconds(1))
        model.schedule.drawn(at: .seconds(1))
        #expect(model.nextFrame == .milliseconds(1100))
    }

    @Test func withoutDownloadsTheDaemonIsAskedOnceASecond() {
        var model = TopModel(size: TerminalSize(columns: 80, lines: 24))
        #expect(model.advanced(to: .zero) == [.stats])
        _ = model.sampled([:], now: .zero)
        model.schedule.drawn(at: .zero)
        #expect(model.nextFrame == nil && model.nextDeadline == .seconds(1))
        #expect(model.advanced(to: .milliseconds(999)).isEmpty)
        #expect(model.advanced(to: .seconds(1)) == [.stats])
    }

    @Test func aDaemonThatDoesNotAnswerIsNamedWithinTwoSeconds() {
        var model = TopScene.downloads(80, 24)
        #expect(model.advanced(to: .seconds(10)) == [.stats])
        _ = model.sampled([:], now: .seconds(10))
        #expect(model.advanced(to: .seconds(11)) == [.stats])
        model.schedule.drawn(at: .seconds(11))
        var now = Duration.seconds(11)
        while model.outage == nil, now < .seconds(12) {
            now = model.nextDeadline ?? .seconds(20)
            _ = model.advanced(to: now)
            model.schedule.drawn(at: now)
        }
        #expect(model.outage == .silent && now < .seconds(12))
        #expect(TopScene.rows(of: model).last?.contains("does not answer") == true)
        // Nothing moves then, and no second question is sent.
        #expect(!model.isMoving && model.advanced(to: .seconds(15)).isEmpty)
        _ = model.sampled([:], now: .seconds(16))
        #expect(model.outage == nil && model.isMoving)
    }

    @Test func theNextDaemonIsAskedForEverythingOnTheScreen() {
        var model = TopScene.cached(80, 24)
        _ = model.pressed(.enter, now: .zero)
        let url = model.details?.url ?? ""
        model.lostDaemon("the daemon closed the connection")
        #expect(TopScene.rows(of: model).last?.hasPrefix("waiting for a daemon: ") == true)
        #expect(model.advanced(to: .seconds(100)).isEmpty)
        let page = CachedList.PageRequest(order: .newest, limit: 200)
        #expect(model.foundDaemon() == [.details(url), .list(page)])
        #expect(model.outage == nil && model.cached.items.count == 60)
        #expect(model.advanced(to: .seconds(100)) == [.stats])
    }

    @Test func sleepsAfterAllDownloadsEnded() {
        var model = TopScene.downloads(80, 24)
        var end = TopScene.all
        for index in end.indices {
            end[index].state = .cached
            end[index].phase = nil
        }
        model.downloadsChanged(.init(items: end, removed: []), now: .seconds(3))
        model.watchScreen()
        for step in 0..<20 {
            let now = Duration.milliseconds(3000 + 100 * step)
            _ = model.advanced(to: now)
            model.schedule.drawn(at: now)
        }
        #expect(model.overall == nil && !model.isMoving)
        #expect(model.nextFrame == nil)
    }

    @Test func failedRowsAreNotAnimated() {
        var model = TopModel(size: TerminalSize(columns: 80, lines: 24))
        model.downloadsChanged(.init(items: [TopScene.all[0]], removed: []), now: .zero)
        var failed = TopScene.all[0]
        failed.state = .missing
        failed.failure = Failure(kind: "http", message: "the origin answered 404")
        model.downloadsChanged(.init(items: [failed], removed: []), now: .zero)
        model.watchScreen()
        #expect(model.urlsOnScreen.count == 1 && !model.isMoving)
    }

    @Test func overallCountRestartsAfterAnIdlePeriod() {
        var model = TopModel(size: TerminalSize(columns: 80, lines: 24))
        model.downloadsChanged(.init(items: Array(TopScene.all[..<2]), removed: []), now: .zero)
        model.downloadsChanged(.init(items: [], removed: ["0"]), now: .zero)
        #expect(model.overall?.finished == 1 && model.overall?.total == 2)
        model.downloadsChanged(.init(items: [], removed: ["1"]), now: .seconds(1))
        _ = model.advanced(to: .seconds(2))
        _ = model.advanced(to: .seconds(3))
        model.downloadsChanged(.init(items: [TopScene.all[2]], removed: []), now: .seconds(4))
        #expect(model.overall?.finished == 0 && model.overall?.total == 1)
    }

    @Test func listIsLoadedAsFarAsItIsShown() {
        var model = TopModel(size: TerminalSize(columns: 80, lines: 24))
        let first = CachedList.PageRequest(order: .newest, limit: 200)
        #expect(model.pressed(.tab, now: .zero).last == .list(first))
        let items = (0..<200).map { Item(url: "https://a/\($0)", key: "\($0)", state: .cached) }
        #expect(model.listed(first, .init(items: items, after: "x")).isEmpty)
        let next = CachedList.PageRequest(order: .newest, limit: 200, after: "x")
        for _ in 0..<3 { #expect(model.pressed(.pageDown, now: .zero).isEmpty) }
        while model.cachedRows.range.upperBound <= 100 {
            let actions = model.pressed(.down, now: .zero)
            #expect(actions == (model.cachedRows.range.upperBound <= 100 ? [] : [.list(next)]))
        }
        #expect(model.pressed(.down, now: .zero).isEmpty)
        #expect(model.listed(next, .init(items: items)).isEmpty)
        #expect(model.cached.items.count == 400)
        #expect(model.pressed(.end, now: .zero).isEmpty)
    }

    @Test func endKeyLoadsTheListToItsEnd() {
        var model = TopModel(size: TerminalSize(columns: 80, lines: 24))
        _ = model.pressed(.tab, now: .zero)
        func items(_ range: Range<Int>) -> [Item] {
            range.map { Item(url: "https://a/\($0)", key: "\($0)", state: .cached) }
        }
        let first = CachedList.PageRequest(order: .newest, limit: 200)
        _ = model.listed(first, .init(items: items(0..<200), after: "x"))
        let second = CachedList.PageRequest(order: .newest, limit: 1000, after: "x")
        let third = CachedList.PageRequest(order: .newest, limit: 1000, after: "y")
        #expect(model.pressed(.end, now: .zero) == [.list(second)])
        let more = model.listed(second, .init(items: items(200..<1200), after: "y"))
        #expect(more == [.list(third)])
        #expect(model.listed(third, .init(items: items(1200..<1300))).isEmpty)
        #expect(model.selected?.key == "1299" && !model.isJumpingToEnd)
        // Another key cancels the jump to the end.
        _ = model.listed(first, .init(items: items(0..<200), after: "x"))
        _ = model.pressed(.end, now: .zero)
        _ = model.pressed(.up, now: .zero)
        #expect(model.listed(second, .init(items: items(200..<1200), after: "y")).isEmpty)
        #expect(model.selected?.key == "198")
    }

    @Test func selectionFollowsItsImageWhenTheListChanges() throws {
        var model = TopScene.cached(80, 24)
        for _ in 0..<20 { _ = model.pressed(.down, now: .zero) }
        let (url, onScreen) = (try #require(model.selected?.url), model.urlsOnScreen)
        let page = CachedList.PageRequest(order: .newest, limit: 200)
        let new = (0..<7).map { Item(url: "https://new/\($0)", key: "n\($0)", state: .cached) }
        let items = model.cached.items
        _ = model.listed(page, .init(items: new + items))
        #expect(model.selected?.url == url && model.urlsOnScreen == onScreen)
        model.screenChanged(.init(items: [], removed: new.map(\.key)), now: .zero)
        #expect(model.selected?.url == url && model.urlsOnScreen == onScreen)
        // If the selected image is removed, the next one is selected, even if earlier rows change
        // too.
        _ = model.listed(page, .init(items: new + items.filter { $0.url != url }))
        #expect(model.selected?.url == items[21].url)
        model.resized(TerminalSize(columns: 80, lines: 10))
        #expect(model.urlsOnScreen.contains(items[21].url))
    }

    @Test func noticeDisappearsAfterAWhile() throws {
        var model = TopScene.cached(80, 24)
        var selected = try #require(model.selected)
        selected.phase = .connecting
        _ = model.pressed(.character("r"), now: .seconds(50))
        model.answered(.refresh(selected.url), [selected], now: .seconds(50))
        model.schedule.drawn(at: .seconds(50))
        #expect(model.notice == "asking the origin" && model.noticeEnd == .seconds(53))
        _ = model.advanced(to: .milliseconds(52_999))
        #expect(model.notice != nil)
        _ = model.advanced(to: .seconds(53))
        #expect(model.notice == nil && model.nextFrame == .zero)
        model.schedule.drawn(at: .seconds(53))
        #expect(model.nextFrame == nil)
    }

    @Test(arguments: [nil, Failure(kind: "http", message: "the origin answered 503")])
    func resultOfARefreshIsShown(failure: Failure?) throws {
        var model = TopScene.cached(80, 24)
        var item = try #require(model.selected)
        // Another client can refresh the same image.
        model.screenChanged(.init(items: [item], removed: []), now: .zero)
        #expect(model.notice == nil)
        _ = model.pressed(.character("r"), now: .zero)
        item.phase = .queued
        model.answered(.refresh(item.url), [item], now: .zero)
        #expect(model.notice == "asking the origin")
        for (phase, text) in [
            (Item.Phase.connecting, "asking"), (.receiving, "42 %"), (.publishing, "saving"),
        ] {
            (item.phase, item.received, item.total) = (phase, 42, 100)
            model.screenChanged(.init(items: [item], removed: []), now: .zero)
            #expect(TopScene.rows(of: model).contains { $0.contains(" \(text)  ") }, "\(phase)")
        }
        (item.phase, item.received, item.total, item.failure) = (nil, nil, nil, failure)
        model.downloadsChanged(.init(items: [item], removed: []), now: .zero)
        #expect(model.notice == failure?.message ?? "the image is up to date")
        // The notice is shown once.
        model.showNotice(nil, now: .zero)
        model.screenChanged(.init(items: [item], removed: []), now: .zero)
        #expect(model.notice == nil)
    }

    @Test func failedRefreshIsAFailedRow() throws {
        var model = TopModel(size: TerminalSize(columns: 80, lines: 24))
        var item = Item(url: "https://a/b.png", key: "b", state: .cached)
        item.phase = .connecting
        model.downloadsChanged(.init(items: [item], removed: []), now: .zero)
        #expect(model.table.runningCount == 1)
        (item.phase, item.failure) = (nil, Failure(kind: "http", message: "it answered 503"))
        model.downloadsChanged(.init(items: [item], removed: []), now: .zero)
        #expect(model.table.runningCount == 0 && model.table.failureCount == 1)
        // The failure can be repeated, for example when the image is pinned.
        model.downloadsChanged(.init(items: [item], removed: []), now: .zero)
        #expect(model.table.failureCount == 1)
        // The next attempt can fail so early that its start is not reported.
        item.failure = Failure(kind: "http", message: "it answered 500")
        model.downloadsChanged(.init(items: [item], removed: []), now: .zero)
        #expect(model.table.runningCount == 0 && model.table.failureCount == 1)
        #expect(model.table.rows.map(\.failure?.message) == ["it answered 500"])
        // A remembered failure without a download is not shown as a failed download.
        item.key = "c"
        model.downloadsChanged(.init(items: [item], removed: []), now: .zero)
        #expect(model.table.failureCount == 1)
    }

    @Test func reloadedListKeepsTheProgressOfARefresh() throws {
        var model = TopScene.cached(80, 24)
        var item = try #require(model.selected)
        (item.phase, item.received, item.total) = (.receiving, 42, 100)
        model.screenChanged(.init(items: [item], removed: []), now: .zero)
        let listed = model.cached.items.map { Item(url: $0.url, key: $0.key, state: .cached) }
        _ = model.listed(
            CachedList.PageRequest(order: model.cached.order, limit: 200), .init(items: listed))
        #expect(TopScene.rows(of: model).contains { $0.contains(" 42 %  ") })
    }

    @Test func removalCancelsTheNoticeOfARefresh() throws {
        var model = TopScene.cached(80, 24)
        let item = try #require(model.selected)
        for key in ["r", "x", "y"] as [Character] { _ = model.pressed(.character(key), now: .zero) }
        model.screenChanged(.init(items: [item], removed: []), now: .zero)
        #expect(model.notice == nil)
    }

    @Test func endOfARefreshCanBeReportedBeforeItsStart() throws {
        var model = TopScene.cached(80, 24)
        var item = try #require(model.selected)
        _ = model.pressed(.character("r"), now: .zero)
        model.screenChanged(.init(items: [item], removed: []), now: .zero)
        #expect(model.notice == "the image is up to date")
        item.phase = .queued
        model.answered(.refresh(item.url), [item], now: .zero)
        #expect(model.notice == "the image is up to date")
    }

    @Test func keysActOnTheSelectedImage() throws {
        var model = TopScene.cached(80, 24)
        let url = try #require(model.selected?.url)
        #expect(model.pressed(.character("p"), now: .zero) == [.pin(url, true)])
        #expect(model.pressed(.character("r"), now: .zero) == [.refresh(url)])
        var item = try #require(model.selected)
        item.pinned = true
        model.answered(.pin(url, true), [item], now: .zero)
        #expect(model.notice == "pinned" && model.selected?.pinned == true)
        #expect(model.pressed(.character("p"), now: .zero) == [.pin(url, false)])
        #expect(model.pressed(.character("q"), now: .zero) == [.quit])
    }

    @Test func keysActOnTheSelectedDownload() throws {
        var model = TopScene.downloads(80, 24)
        _ = model.pressed(.down, now: .zero)
        let url = try #require(model.selected?.url)
        #expect(url == TopScene.all[1].url)
        #expect(model.pressed(.character("p"), now: .zero) == [.pinDownload(url)])
        #expect(model.pressed(.character("r"), now: .zero).isEmpty)
        #expect(model.notice == "it is under way")
        #expect(model.pressed(.character("y"), now: .zero) == [.copy(url)])
        #expect(model.pressed(.character("x"), now: .zero).isEmpty)
        #expect(TopScene.rows(of: model).last?.hasPrefix("cancel ") == true)
        #expect(model.pressed(.character("y"), now: .zero) == [.remove(url)])
        #expect(model.removed(.init(entries: 0, bytes: 0), now: .zero) == [.stats])
        #expect(model.notice == "cancelled")
    }

    @Test func failedDownloadsAreRetriedAndDismissed() throws {
        var model = TopScene.downloads(80, 24)
        let url = TopScene.all[9].url
        while model.selected?.url != url { _ = model.pressed(.down, now: .zero) }
        #expect(model.pressed(.character("r"), now: .zero) == [.retry([url])])
        #expect(model.pressed(.character("R"), now: .zero) == [.retry([url])])
        #expect(model.pressed(.character("p"), now: .zero).isEmpty)
        #expect(model.pressed(.character("x"), now: .zero).isEmpty)
        #expect(model.table.failureCount == 0 && model.confirmation == nil)
        #expect(model.pressed(.character("R"), now: .zero).isEmpty)
    }

    @Test func selectionFollowsItsDownload() throws {
        var model = TopScene.downloads(80, 24)
        for _ in 0..<5 { _ = model.pressed(.down, now: .zero) }
        let url = try #require(model.selected?.url)
        // Two that stand above end, and one below starts.
        var started = TopScene.all[20]
        started.phase = .connecting
        model.downloadsChanged(.init(items: [started], removed: ["0", "2"]), now: .zero)
        #expect(model.selected?.url == url)
        model.downloadsChanged(.init(items: [], removed: ["5"]), now: .zero)
        #expect(model.selected?.url == TopScene.all[6].url)
    }

    @Test func filterLeavesTheRowsThatContainIt() {
        var model = TopScene.downloads(80, 24)
        for key in "/HOLIDAY-12" { _ = model.pressed(.character(key), now: .zero) }
        #expect(model.downloads.count == 10 && model.urlsOnScreen.count == 10)
        #expect(TopScene.rows(of: model).last == "/HOLIDAY-12_")
        _ = model.pressed(.backspace, now: .zero)
        #expect(model.downloads.count == 30)
        // Keys are text until Enter, and act on the rows after it.
        _ = model.pressed(.character("q"), now: .zero)
        #expect(model.downloads.isEmpty && model.isFiltering)
        _ = model.pressed(.enter, now: .zero)
        #expect(model.pressed(.character("q"), now: .zero) == [.quit])
        _ = model.pressed(.escape, now: .zero)
        #expect(model.downloads.count == 30 && model.filter.isEmpty)
    }

    @Test func filterOfCachedImagesIsAskedOfTheDaemon() {
        var model = TopScene.cached(80, 24)
        _ = model.pressed(.character("/"), now: .zero)
        var page = CachedList.PageRequest(order: .newest, limit: 200)
        page.filter.text = "a"
        #expect(model.pressed(.character("a"), now: .zero) == [.list(page)])
        page.filter.text = "ab"
        #expect(model.pressed(.character("b"), now: .zero) == [.list(page)])
        // The reply to the shorter text comes too late.
        var late = page
        late.filter.text = "a"
        _ = model.listed(late, .init(items: [Item(url: "https://a/1", key: "1", state: .cached)]))
        #expect(model.cached.items.count == 60)
        // An empty page need not be the last.
        page.after = "x"
        #expect(
            model.listed(
                .init(order: .newest, limit: 200, filter: page.filter), .init(items: [], after: "x")
            )
                == [.list(page)])
    }

    @Test func detailsFollowTheSelectionAndTheImage() throws {
        var model = TopScene.cached(120, 32)
        let first = try #require(model.selected)
        #expect(model.pressed(.enter, now: .zero) == [.details(first.url)])
        var whole = first
        (whole.sha256, whole.path) = ("abc", "/c/1")
        model.detailed([whole])
        #expect(model.details == whole && model.urlsOnScreen == [first.url])
        let place = try #require(model.picture?.place)
        #expect(place.column >= 60 && place.column + place.columns == 120)
        #expect(TopScene.rows(of: model).contains { $0.contains("sha256") })
        // A refresh keeps what is known, and at its end the daemon is asked again.
        var refreshed = first
        refreshed.phase = .connecting
        #expect(model.screenChanged(.init(items: [refreshed], removed: []), now: .zero).isEmpty)
        #expect(model.details?.fetchedAt == first.fetchedAt)
        refreshed.phase = nil
        #expect(
            model.screenChanged(.init(items: [refreshed], removed: []), now: .zero)
                == [.details(first.url)])
        _ = model.pressed(.down, now: .zero)
        let second = try #require(model.details)
        #expect(second.url != first.url)
        // Its image goes, and the details say so.
        let questions = model.screenChanged(.init(items: [], removed: [second.key]), now: .zero)
        #expect(questions == [.explain(second.url)])
        #expect(model.details?.url == second.url && model.picture == nil)
        #expect(TopScene.rows(of: model).contains { $0.hasPrefix("x No longer cached") })
        #expect(model.pressed(.escape, now: .zero).isEmpty && model.details == nil)
    }

    @Test func detailsSayWhyAnImageIsGone() throws {
        var model = TopScene.cached(120, 32)
        _ = model.pressed(.enter, now: .zero)
        let image = try #require(model.details)
        let question = TopModel.Action.explain(image.url)
        func event(_ kind: HistoryKind, _ reason: HistoryReason? = nil) -> HistoryEvent {
            HistoryEvent(at: 1, kind: kind, key: image.key, url: image.url, reason: reason)
        }
        model.screenChanged(.init(items: [], removed: [image.key]), now: .zero)
        // An eviction is remembered a moment later.
        model.explained(image.url, [event(.fetched)])
        #expect(TopScene.rows(of: model).contains { $0.hasPrefix("x No longer cached") })
        #expect(model.sampled([:], now: .seconds(1)).contains(question))
        model.explained("http://other.example/", [event(.removed, .gone)])
        model.explained(image.url, [event(.evicted, .pressure)])
        #expect(TopScene.rows(of: model).contains { $0.hasPrefix("x Evicted: memory was short") })
        #expect(!model.sampled([:], now: .seconds(2)).contains(question))
        // The image comes again, goes without a trace, and the daemon is not asked for ever.
        #expect(model.detailed([image]).isEmpty && model.explanation.event == nil)
        model.screenChanged(.init(items: [], removed: [image.key]), now: .zero)
        let questions = (3..<9).map { model.sampled([:], now: .seconds($0)).contains(question) }
        #expect(questions == [true, true, false, false, false, false])
        model.explained(image.url, [event(.fetched)])
        #expect(TopScene.rows(of: model).contains { $0.hasPrefix("x Removed while no daemon ran") })
    }

    @Test func mouseSelectsRowsAndViews() throws {
        var model = TopScene.cached(80, 24)
        let layout = TopLayout(size: model.size, view: .cached)
        let click = Key.click(column: 40, line: layout.rows.lowerBound + 3)
        #expect(model.pressed(click, now: .zero).isEmpty)
        let url = model.cached.items[3].url
        #expect(model.selected?.url == url)
        #expect(model.pressed(click, now: .zero) == [.details(url)])
        #expect(model.pressed(click, now: .zero).isEmpty && model.details == nil)
        _ = model.pressed(.wheelDown, now: .zero)
        #expect(model.cachedRows.cursor == 6)
        let tab = try #require(TopTabs(model).tabs.first { $0.view == .downloads })
        _ = model.pressed(.click(column: tab.columns.lowerBound, line: 0), now: .zero)
        #expect(model.view == .downloads)
    }

    @Test func refusalsAndLostConnectionsEndNoView() {
        var model = TopScene.downloads(80, 24)
        _ = model.pressed(.character("?"), now: .zero)
        #expect(TopScene.rows(of: model).contains { $0.contains("no length") })
        #expect(model.pressed(.character("x"), now: .zero).isEmpty && !model.isHelpShown)
        #expect(model.confirmation == nil)
    }

    // MARK: Hosts

    @Test func hostsAreCountedPageByPage() {
        var model = TopScene.downloads(80, 24)
        #expect(model.pressed(.character("3"), now: .zero) == [.countHosts(after: nil)])
        #expect(model.shownHosts.map(\.underWay) == [29] && model.shownHosts.map(\.failed) == [1])
        func items(_ host: String, _ count: Int, _ size: Int) -> [Item] {
            (0..<count).map {
                var item = Item(url: "https://\(host)/\($0)", key: "\(host)\($0)", state: .cached)
                item.size = size
                return item
            }
        }
        let next = model.countedHosts(.init(items: items("A.example:80", 3, 10), after: "x"))
        #expect(next == [.countHosts(after: "x")])
        #expect(model.countedHosts(.init(items: items("b.example", 2, 900))).isEmpty)
        #expect(model.shownHosts.map(\.host) == ["b.example", "a.example", "images.example.com"])
        #expect(model.shownHosts.map(\.images) == [2, 3, 0])
        _ = model.pressed(.down, now: .zero)
        let page = CachedList.PageRequest(
            order: .newest, limit: 200, filter: .init(host: "a.example"))
        #expect(model.pressed(.enter, now: .zero) == [.stats, .list(page)])
        #expect(model.view == .cached)
        #expect(
            model.pressed(.escape, now: .zero) == [.list(.init(order: .newest, limit: 200))])
    }

    // MARK: Users

    @Test func thereIsAViewOfUsersIfThereAreSeveral() {
        var model = TopScene.downloads(80, 24)
        #expect(model.pressed(.character("4"), now: .zero) == [] && model.view == .downloads)
        let one = [UserShare(user: 7, connections: 1, downloads: 0, waiting: 0)]
        _ = model.sampled([:], users: one, now: .zero)
        #expect(model.views == [.downloads, .cached, .hosts])
        model = TopScene.users(80, 24)
        #expect(model.view == .users && model.urlsOnScreen.isEmpty)
        // The greediest comes first, and stays in sight of the reader after the others are gone.
        #expect(model.users.first?.user == 1007)
        _ = model.pressed(.end, now: .zero)
        #expect(model.userRows.range.upperBound == 30 && model.userRows.offset > 0)
        _ = model.sampled([:], users: one, now: .zero)
        #expect(model.view == .users && model.userRows.range == 0..<1)
        #expect(model.pressed(.tab, now: .zero) == [] && model.view == .downloads)
        #expect(model.views == [.downloads, .cached, .hosts])
    }
}
