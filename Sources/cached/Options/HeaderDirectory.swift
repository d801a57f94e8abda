import CacheCore
import CacheValues
import Glibc
import Logging
import Synchronization

/// The directory `headers.d` beside the configuration file: header fields for some origins, such as credentials.
///
///     # /home/me/.config/cached/headers.d/matrix
///     [https://matrix.example.org]
///     Authorization: Bearer …
///
/// The files are read again when they change. They can hold secrets, so no message quotes their lines.
final class HeaderDirectory: OriginHeaders {
    let path: String
    private let logger: Logger
    /// The time between two looks at the directory.
    private let interval: Duration
    private let state: Mutex<State>

    private struct State {
        var table = Table()
        var stamp: Stamp
        var nextLook: ContinuousClock.Instant
    }

    /// The fields of each section, and the warnings of the reading.
    struct Table {
        /// By the origin.
        var fields: [String: [RequestField]] = [:]
        /// The sections with patterns, the longest first.
        var patterns: [(section: HeaderSection, fields: [RequestField])] = []
        var warnings: [String] = []
    }

    /// Changes whenever a file of the directory changes. inode(7).
    private struct Stamp: Equatable {
        var files: [String: [Int]] = [:]
    }

    /// Reads the files. The directory may be missing.
    ///
    /// - Parameter interval: the time between two looks at the directory.
    /// - Throws: `StartFailure` if a file cannot be read or used.
    init(_ path: String, interval: Duration = .seconds(1), logger: Logger) throws {
        (self.path, self.interval, self.logger) = (path, interval, logger)
        let stamp = Self.look(at: path)
        let table = try Self.read(path, stamp)
        state = Mutex(State(table: table, stamp: stamp, nextLook: .now + interval))
        for warning in table.warnings { logger.warning("\(warning)") }
    }

    func fields(for origin: String) -> [RequestField] {
        state.withLock { state in
            refresh(&state)
            return state.table.fields(for: origin)
        }
    }

    /// Reads the files again if they have changed. A mistake changes nothing.
    private func refresh(_ state: inout State) {
        guard state.nextLook <= .now else { return }
        state.nextLook = .now + interval
        let stamp = Self.look(at: path)
        guard stamp != state.stamp else { return }
        state.stamp = stamp
        do {
            state.table = try Self.read(path, stamp)
            for warning in state.table.warnings { logger.warning("\(warning)") }
            logger.info("header files read again", metadata: ["directory": "\(path)"])
        } catch {
            let reason = (error as? StartFailure)?.message ?? "\(error)"
            logger.error(
                "a header file is invalid, fields unchanged; correct it",
                metadata: ["reason": "\(reason)"])
        }
    }

    private static func read(_ path: String, _ stamp: Stamp) throws -> Table {
        var table = Table()
        // The file of each section.
        var files: [HeaderSection: String] = [:]
        for name in stamp.files.keys.sorted() {
            let file = try HeaderFile("\(path)/\(name)")
            if let warning = file.warning { table.warnings.append(warning) }
            for (section, fields) in file.fields {
                if let other = files.updateValue(name, forKey: section) {
                    throw StartFailure.configuration(
                        "the header files \(other) and \(name) both name \(section.text); leave one of them, or "
                            + "give the images of each account a name with #as=")
                }
                table.add(section, fields)
            }
        }
        return table
    }

    /// Names that begin with a dot, or end with `~` as an editor's copies do, do not count. readdir(3), stat(2).
    private static func look(at path: String) -> Stamp {
        var stamp = Stamp()
        guard let directory = opendir(path) else { return stamp }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !name.hasPrefix("."), !name.hasSuffix("~") else { continue }
            var status = stat()
            _ = stat("\(path)/\(name)", &status)
            stamp.files[name] = [
                Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec,
                status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
            ]
        }
        return stamp
    }
}

extension HeaderDirectory.Table {
    fileprivate mutating func add(_ section: HeaderSection, _ fields: [RequestField]) {
        guard section.pattern != nil else { return self.fields[section.text] = fields }
        patterns.append((section, fields))
        patterns.sort {
            ($1.section.text.count, $0.section.text) < ($0.section.text.count, $1.section.text)
        }
    }

    /// The fields of the origin's own section, or else of the longest pattern that it matches.
    fileprivate func fields(for origin: String) -> [RequestField] {
        fields[origin] ?? patterns.first { $0.section.matches(origin) }?.fields ?? []
    }
}
