import CLinux
import Foundation
import Glibc
import TestSupport

extension Oracle {
    /// A directory compared with what clients were told.
    struct Comparison {
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
        func requireValid() throws {
            guard bad.isEmpty, lost.isEmpty, returned.isEmpty else {
                throw TestFailure(
                    "not whole: \(bad); lost: \(lost); removed and back: \(returned)")
            }
        }
    }

    /// Compares a directory whose daemon has ended, before ``daemonEnded()`` is told.
    ///
    /// - Parameter begun: when the daemon was started, in nanoseconds since 1970.
    func compare(_ directory: String, _ origin: ImageOrigin, begun: Int = 0) throws -> Comparison {
        var comparison = Comparison()
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        let images = images
        for name in names {
            let image = images[String(name.prefix(36))]
            if image?.isPending == true, image?.isReportedCached == false,
                isChanged("\(directory)/\(name)", since: begun)
            {
                comparison.underWay += 1
            }
            guard name.utf8.count == 36 else { continue }
            comparison.present.insert(name)
            let bytes = try contents(of: "\(directory)/\(name)")
            if image.map({ origin.canServe(bytes, $0.url) }) != true {
                comparison.bad.append("\(name) \(image?.url ?? "?"), \(bytes.count) bytes")
            }
            if let image, image.mustExist, let size = image.size, size != bytes.count {
                comparison.lost.append("\(name) \(image.url), \(size) bytes, not \(bytes.count)")
            }
        }
        for (name, image) in images {
            let isPresent = comparison.present.contains(name)
            if image.mustExist, !isPresent { comparison.lost.append("\(name) \(image.url)") }
            if image.isReportedRemoved, isPresent {
                comparison.returned.append("\(name) \(image.url)")
            }
        }
        return comparison
    }

    /// stat(2), `st_ctim`
    private func isChanged(_ path: String, since begun: Int) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        return status.st_ctim.tv_sec * 1_000_000_000 + status.st_ctim.tv_nsec >= begun
    }
}
