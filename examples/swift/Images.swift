// The states of images, their progress, and the paths of their files: images URL...
import CachedClient
import Glibc

@main
struct Images {
    static func main() async {
        var configuration = ImageCache.Configuration()
        // A program with a window can wait longer for a daemon that restarts.
        configuration.patience = .seconds(2)
        let cache = ImageCache(configuration)

        let loads = CommandLine.arguments.dropFirst().map {
            cache.load(ImageRequest($0, priority: .visible))
        }
        // The directory alone shows these, in microseconds and without a daemon.
        for load in loads { show(load.initial, of: load.url) }
        let states = await withTaskGroup { group in
            for load in loads { group.addTask { await follow(load) } }
            var states: [ImageState] = []
            for await state in group { states.append(state) }
            return states
        }
        exit(states.allSatisfy { if case .cached = $0 { true } else { false } } ? 0 : 1)
    }

    /// Prints each new state, and returns the last. The image is wanted as long as this waits.
    static func follow(_ load: ImageLoad) async -> ImageState {
        await load.dropFirst().reduce(load.initial) { before, state in
            if state != before { show(state, of: load.url) }
            return state
        }
    }

    static func show(_ state: ImageState, of url: String) {
        switch state {
        case .missing: print("missing \(url)")
        case .inFlight(let progress):
            // If the origin has not told the length, a program with a ring lets it turn.
            let percent = progress.fraction.map { " \(Int(100 * $0))%" } ?? ""
            print("in flight\(percent) \(url)")
        case .cached(let file): print("cached \(file.path)")
        case .failed(let failure): print("failed \(url): \(failure.message)")
        }
        fflush(nil)
    }
}
