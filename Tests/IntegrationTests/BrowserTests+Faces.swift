import CacheWire
import Foundation
import TestSupport
import Testing

/// The states of images: their drawings, and that none of them lies.
extension BrowserTests {
    /// `docs/lookup/states.md`
    @Test func everyStateHasItsDrawing() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            let vectors = try String(
                contentsOfFile: Libcached.root + "Tests/Vectors/faces.json", encoding: .utf8)
            let faces = try JSONDecoder().decode([Face].self, from: Data(vectors.utf8))
            for motion in ["no-preference", "reduce"] {
                try await browser.open(gallery.address, motion: motion)
                let drawn = try await browser.evaluate(
                    "(\(Self.drawing))(\(vectors))", as: [Face].self)
                #expect(drawn.count == faces.count)
                for (drawn, face) in zip(drawn, faces) { #expect(drawn == face) }
                // Nothing that stands still reads as a share of the ring.
                let turning = try await browser.evaluate(
                    """
                    (() => {
                      const ring = [...document.querySelectorAll('.cell .turning')].at(0)
                      const svg = ring.querySelector('svg')
                      return [getComputedStyle(svg).animationName, getComputedStyle(ring.querySelector('.done')).strokeDasharray]
                    })()
                    """, as: [String].self)
                #expect(turning[0] == (motion == "reduce" ? "none" : "turn"))
                #expect(turning[1].hasPrefix(motion == "reduce" ? "0px" : "33px"))
            }
            let legend = try await browser.evaluate(
                "import('./states.js').then(({ states }) => Object.keys(states))", as: [String].self
            )
            #expect(legend.count == 12)
            #expect(Set(faces.map(\.state) + ["stale", "pinned"]) == Set(legend))
            try await browser.press("?")
            #expect(
                try await browser.evaluate(
                    "document.querySelectorAll('#legend .sign').length", as: Int.self) == 12)
        }
    }

    /// A face as the vectors have it, or as the page draws it.
    private struct Face: Decodable, Equatable {
        var state: String
        var ring: String?
        var share: Double?
        var text: String?
        var marks: [String]?
        var isComing: Bool
        var words: String?
    }

    private static let drawing = """
        async faces => {
          const { Cell } = await import('./cell.js')
          const { marksOf, reasonOf, stateOf } = await import('./states.js')
          const { progress } = await import('./format.js')
          const now = Date.now() / 1000
          const thumbnails = { load: async () => { const image = new Image(); image.src = 'icon.svg'; await image.decode(); return image } }
          return Promise.all(faces.map(async (face, index) => {
            const item = { url: 'http://a.example/a.png', key: `k${index}`, ...face.item, event: face.event, place: face.place }
            if (face.freshIn) item.freshUntil = now + face.freshIn
            if (face.retryIn) item.failure.retryAt = now + face.retryIn
            const cell = new Cell(thumbnails, () => {})
            document.querySelector('#rows').append(cell.element)
            cell.configure(item, { left: 0, top: 0, width: 160, height: 120 }, true)
            await new Promise(resolve => setTimeout(resolve, 300))
            const ring = cell.element.querySelector('.ring')
            const drawing = ['hollow', 'dotted', 'filled', 'turning', 'halved', 'open', 'counting'].find(name => ring.classList.contains(name))
            const share = ring.hidden ? undefined : parseFloat(ring.querySelector('.done').style.strokeDasharray)
            const marks = marksOf(item)
            return {
              state: stateOf(item), ring: ring.hidden ? undefined : drawing,
              share: Number.isNaN(share) ? undefined : share,
              text: ring.hidden ? undefined : ring.querySelector('span').textContent,
              marks: marks.length > 0 ? marks : undefined, isComing: face.ring ? cell.element.matches('.lit') || (face.isComing && item.state === 'cached') : cell.isWaiting,
              words: ring.hidden ? (item.state === 'cached' ? undefined : reasonOf(item)) : progress(item),
            }
          }))
        }
        """

    /// A state as it is drawn, without its colours and words.
    private struct Drawing: Decodable {
        var state: String
        var shape: String
        /// What moves in it, and where a line leaves its tile or a colour is none of the system.
        var faults: [String]
    }

    private static let shapes = """
        async ({ isStill, isForced }) => {
          const { Cell } = await import('./cell.js')
          const now = Date.now() / 1000
          const here = { state: 'cached', size: 5000, mediaType: 'image/png', width: 160, height: 120, freshUntil: now + 600 }
          const coming = (phase, more) => ({ state: 'inFlight', phase, received: 0, ...more })
          const items = {
            queued: coming('queued'), connecting: coming('connecting'), deriving: coming('deriving'),
            receiving: coming('receiving', { received: 40, total: 100, percent: 40 }), unmeasured: coming('receiving', { received: 40 }),
            publishing: coming('publishing', { received: 100, total: 100, percent: 100 }),
            retrying: coming('retrying', { failure: { kind: 'hostDown', message: '-', retryAt: now + 600 } }),
            failed: { state: 'missing', failure: { kind: 'hostDown', message: '-' } }, cached: here,
            stale: { ...here, freshUntil: now - 600 }, pinned: { ...here, pinned: true }, gone: { state: 'missing' },
          }
          const load = async () => {
            const image = new Image()
            image.src = 'icon.svg'
            await image.decode()
            return image
          }
          const probe = document.body.appendChild(document.createElement('p'))
          probe.style.forcedColorAdjust = 'none'
          const system = ['Canvas', 'CanvasText', 'GrayText', 'Highlight'].map(color => {
            probe.style.color = color
            return getComputedStyle(probe).color
          })
          return Promise.all(Object.entries(items).map(async ([state, item], index) => {
            const cell = new Cell({ load }, () => {})
            document.querySelector('#rows').append(cell.element)
            cell.configure({ url: 'http://a.example/a.png', key: `k${index}`, ...item }, { left: 0, top: 130 * index, width: 160, height: 120 }, true)
            while (item.state === 'cached' && !cell.isPictured) await new Promise(requestAnimationFrame)
            const faults = []
            const part = (selector, pseudo) => getComputedStyle(selector ? cell.element.querySelector(selector) : cell.element, pseudo)
            const stroke = selector => {
              const { display, strokeDasharray, strokeLinecap, strokeWidth, stroke } = part(selector)
              if (display === 'none') return ''
              if (isForced && !system.includes(stroke)) faults.push(`${selector} is ${stroke}`)
              return [strokeDasharray, strokeLinecap, strokeWidth].join(' ')
            }
            const isRing = part('.ring').display !== 'none'
            const ring = isRing ? [stroke('.track'), stroke('.done'), part('.ring', '::after').borderTopWidth] : []
            const frame = part()
            if (isStill) {
              for (const element of [cell.element, ...cell.element.querySelectorAll('*')]) {
                const { animationName, transitionProperty, transitionDuration } = getComputedStyle(element)
                if (animationName !== 'none') faults.push(`${element.className} moves`)
                if (transitionProperty !== 'none' && !/^0s(, 0s)*$/.test(transitionDuration)) faults.push(`${element.className} changes slowly`)
              }
              // Dots are no share.
              const isShare = ['filled', 'open', 'counting'].some(name => cell.element.querySelector('.ring').matches(`.${name}`))
              if (isRing && !isShare && stroke('.done') && !stroke('.done').startsWith('0px')) faults.push('a part stands still')
            }
            if (isForced) {
              if (frame.outlineStyle !== 'none' && parseFloat(frame.outlineOffset) + parseFloat(frame.outlineWidth) > 0) faults.push('a line on the wall')
              if (frame.outlineStyle !== 'none' && item.state === 'cached') faults.push('a line around a picture')
              if (!system.includes(frame.outlineColor)) faults.push(`an outline in ${frame.outlineColor}`)
              if (frame.opacity !== '1') faults.push('shines through')
            }
            const outline = isForced && frame.outlineStyle !== 'none' ? `${frame.outlineStyle} ${frame.outlineWidth}` : ''
            const signs = cell.marks.textContent + part('.instead', '::before').content
            return { state, shape: [...ring, outline, signs].join(' | '), faults }
          }))
        }
        """

    @Test(arguments: [false, true], [false, true])
    func everyStateIsDistinctWithoutMotionAndColours(isStill: Bool, isForced: Bool) async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(
                gallery.address, motion: isStill ? "reduce" : "no-preference",
                colors: isForced ? "active" : "none")
            try await waitUntil("the list") { try await browser.report().count == "0 images" }
            let drawings = try await browser.evaluate(
                "(\(Self.shapes))({ isStill: \(isStill), isForced: \(isForced) })",
                as: [Drawing].self)
            #expect(drawings.count == 12)
            for drawing in drawings {
                #expect(drawing.faults == [], "\(drawing.state)")
                let same = drawings.filter { $0.shape == drawing.shape }.map(\.state)
                #expect(same == [drawing.state], "\(drawing.shape)")
            }
        }
    }

    @Test func whatIsGoneStandsStillAndSaysWhy() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let urls = (0..<80).map { origin.url("/\($0).png") }
            for number in 0..<80 {
                let image = SampleImage.png(width: 90, height: 60, seed: number)
                origin.route(
                    "/\(number).png",
                    .answer(headers: ["Cache-Control": "max-age=900"], body: image))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            try await daemon.cachectl("fetch", "-", input: Array(urls.joined(separator: "\n").utf8))
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address)
            try await waitUntil("the list") { try await browser.report().count == "80 images" }
            // In the middle of the list nothing is shown anew without a word.
            let seen = try await eventually("pictures") {
                // The list grows while their sizes come.
                try await browser.press("End")
                let report = try await browser.report()
                return report.count("picture") == report.cells.count && report.cells.count > 8
                    ? report.cells.map(\.title) : nil
            }
            let removed = [seen[1], seen[3]].map { name in origin.url("/\(name)") }
            try await daemon.cachectl("remove", removed[0], removed[1])
            try await waitUntil("two tiles that say so") {
                let gone = try await browser.report().cells.filter { $0.look == "gone" }
                return gone.count == 2 && gone.allSatisfy { $0.instead == "Removed" }
            }
            try await daemon.cachectl("evict", "--to", "0")
            try await waitUntil("evictions") {
                let texts = try await browser.report().cells.map(\.instead)
                return texts.count { $0 == "Evicted: somebody asked for it" } == texts.count - 2
                    && texts.count { $0 == "Removed" } == 2
            }
            #expect(try await !browser.report().isLit)
            try await browser.settle()
            #expect(try await browser.frames(seconds: 2).frames == 0)
        }
    }

    @Test func failuresAreOneLineAndNoGhostsAfterARestart() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png(width: 90, height: 60)))
            let failing = (0..<300).map { origin.url("/missing-\($0).png") }
            var options = DaemonFixture.Options()
            options.socket = try TemporaryDirectory(in: scope).file("socket")
            var daemon = try await DaemonFixture.start(options, in: scope)
            _ = try await daemon.fetch(origin.url("/a.png"))
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address)
            try await waitUntil("the picture") { try await browser.report().count("picture") == 1 }
            try await browser.paste(failing.joined(separator: "\n"), as: "text/plain")
            try await waitUntil("the failures") {
                try await browser.report().failed == "300 failed"
            }
            let groups = try await browser.report().failures
            #expect(groups.count == 1)
            #expect(groups[0].contains("300 images") && groups[0].contains("404"))
            #expect(groups[0].contains("Retry all") && groups[0].contains("Dismiss all"))
            try await browser.press("d")
            try await daemon.stop()
            try await waitUntil("the news") { try await !browser.report().outage.isEmpty }
            daemon = try await daemon.restart()
            try await waitUntil("the end of the outage") {
                let report = try await browser.report()
                return report.outage.isEmpty && report.count("picture") == 1
            }
            let report = try await browser.report()
            #expect(!report.isLit && report.cells.count == 1 && report.failed == "300 failed")
            // The first picture is on the first screen.
            #expect(report.cells[0].title == "a.png")
            try await browser.press("d")
            try await browser.click("#failures menu button:last-child")
            try await waitUntil("the end of the shelf") {
                try await browser.report().failed.isEmpty
            }
        }
    }

    @Test func aHungDaemonIsReportedAndSoIsItsReturn() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address)
            try await waitUntil("the list") { try await browser.report().count == "0 images" }
            daemon.process.signal(SIGSTOP)
            scope.atEnd { daemon.process.signal(SIGCONT) }
            try await waitUntil("the report") {
                try await browser.report().outage.contains("does not answer")
            }
            daemon.process.signal(SIGCONT)
            try await waitUntil("its end") { try await browser.report().outage.isEmpty }
        }
    }
}
