// Loads images and prints what happens to each: load-images URL …
import CachedClient
import Glibc

@main
struct LoadImages {
    static func main() async {
        var failures = 0
        await withTaskGroup { group in
            for url in CommandLine.arguments.dropFirst() {
                group.addTask { await load(url) }
            }
            for await succeeded in group where !succeeded { failures += 1 }
        }
        if failures > 0 { exit(1) }
    }

    /// Returns whether the image is cached.
    static func load(_ url: String) async -> Bool {
        // The first state comes from the directory. If the image is fresh it is the only one, and needs no daemon.
        for await state in ImageCache.shared.load(ImageRequest(url, priority: .visible)) {
            switch state {
            case .missing: print("missing     \(url)")
            case .inFlight(let progress):
                let percent = progress.fraction.map { "\(Int($0 * 100)) %" } ?? "\(progress.received) bytes"
                print("in flight   \(url) \(percent)")
            case .cached(let file):
                print("cached      \(url) \(file.path)")
                return true
            case .failed(let failure): print("failed      \(url) \(failure.message)")
            }
        }
        return false
    }
}
