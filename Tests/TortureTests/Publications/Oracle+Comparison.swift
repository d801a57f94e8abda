import CLinux
import Foundation
import Glibc
import TestSupport

extension Oracle {
    /// The result of comparing a directory with the replies that clients received.
    struct Comparison {
        /// Names without a suffix that are not a complete image of their URL.
        var bad: [String] = []
        /// Images reported as cached that are missing, or are an older version.
        var lost: [String] = []
        /// Images reported as removed that exist.
        var returned: [String] = []
        /// All names without a suffix.
        var present: Set<String> = []
        /// Publications in progress: files of pending requests that changed since `begun` and were not
        /// reported as cached yet.
        var underWay = 0

        /// - Throws: `TestFailure` unless the directory is as it must be.
        func requireValid() throws {
            guard bad.isEmpty, lost.isEmpty, returned.isEmpty else {
                throw TestFailure(
                    "incomplete: \(bad); lost: \(lost); removed but present: \(returned)")
            }
        }
    }

    /// Compares a directory whose daemon has ended. Must be called before ``daemonEnded()``.
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
                comparison.lost.append("\(name) \(image.url), \(size) bytes, found \(bytes.count)")
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
