import CLinux
import Foundation
import Glibc
import TestSupport

extension Witness {
    /// A directory compared with what clients were told.
    struct Verdict {
        /// Names without a suffix that are not a whole image of their URL.
        var bad: [String] = []
        /// What was told to be cached and is not, or is an older version of it.
        var lost: [String] = []
        /// What was told to be removed and is there.
        var returned: [String] = []
        /// Names without a suffix.
        var present: Set<String> = []
        /// Publications that were under way: bytes have arrived since `begun` of what was asked for, and
        /// nobody was told yet.
        var underWay = 0

        /// - Throws: `TestFailure` unless everything is as it has to be.
        func accept() throws {
            guard bad.isEmpty, lost.isEmpty, returned.isEmpty else {
                throw TestFailure(
                    "not whole: \(bad); lost: \(lost); removed and back: \(returned)")
            }
        }
    }

    /// Compares a directory whose daemon has ended, before ``ended()`` is told.
    ///
    /// - Parameter begun: when the daemon was started, in nanoseconds since 1970.
    func examine(_ directory: String, _ origin: ImageOrigin, begun: Int = 0) throws -> Verdict {
        var verdict = Verdict()
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        let images = images
        for name in names {
            let image = images[String(name.prefix(36))]
            if image?.isAwaited == true, image?.isTold == false,
                isChanged("\(directory)/\(name)", since: begun)
            {
                verdict.underWay += 1
            }
            guard name.utf8.count == 36 else { continue }
            verdict.present.insert(name)
            let bytes = try contents(of: "\(directory)/\(name)")
            if image.map({ origin.mayBring(bytes, $0.url) }) != true {
                verdict.bad.append("\(name) \(image?.url ?? "?"), \(bytes.count) bytes")
            }
            if let image, image.isOwed, let size = image.size, size != bytes.count {
                verdict.lost.append("\(name) \(image.url), \(size) bytes, not \(bytes.count)")
            }
        }
        for (name, image) in images {
            let isPresent = verdict.present.contains(name)
            if image.isOwed, !isPresent { verdict.lost.append("\(name) \(image.url)") }
            if image.isGone, isPresent { verdict.returned.append("\(name) \(image.url)") }
        }
        return verdict
    }

    /// stat(2), `st_ctim`
    private func isChanged(_ path: String, since begun: Int) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        return status.st_ctim.tv_sec * 1_000_000_000 + status.st_ctim.tv_nsec >= begun
    }
}
