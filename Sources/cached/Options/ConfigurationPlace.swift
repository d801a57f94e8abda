import Glibc
import SystemPackage

/// The files of the configuration: `cached.conf`, and the drop-in files `cached.conf.d/*.conf` beside it.
struct ConfigurationPlace {
    /// The path of the main file, which need not exist unless an option names it.
    let main: String?
    private let isNamed: Bool

    /// The place that `--config` names, or else the first usual one that has a file or a folder of drop-in files. A
    /// path that exists and cannot be read is found too, and reading it is an error.
    init(option: String?, environment: [String: String]) {
        isNamed = option != nil
        main =
            option
            ?? Self.directories(environment).map { "\($0)/cached.conf" }
            .first { Self.exists($0) || Self.exists("\($0).d") }
    }

    /// Reads the files in the order in which they count.
    ///
    /// - Throws: `StartFailure` if one of them cannot be read or used.
    func read() throws -> [ConfigurationFile] {
        guard let main else { return [] }
        let first = isNamed || Self.exists(main) ? [main] : []
        return try (first + dropIns("\(main).d")).map { try ConfigurationFile($0) }
    }

    /// The files of a folder whose names end with `.conf`, in the order of the bytes of their names. Hidden ones do
    /// not count. readdir(3).
    private func dropIns(_ folder: String) throws -> [String] {
        guard let directory = opendir(folder) else {
            guard errno != ENOENT else { return [] }
            throw StartFailure.configuration(
                "the configuration folder \(folder) cannot be read: \(Errno(rawValue: errno))")
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".conf"), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { "\(folder)/\($0)" }
    }

    /// `headers.d` beside the main file, or else in the first usual place that has one.
    func headers(_ environment: [String: String]) -> String? {
        if let main { return "\(FilePath(main).removingLastComponent())/headers.d" }
        let places = Self.directories(environment).map { "\($0)/headers.d" }
        return places.first(where: Self.exists) ?? places.first
    }

    /// The usual places of the configuration, the user's own first.
    static func directories(_ environment: [String: String]) -> [String] {
        let home =
            environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? environment["HOME"].map { "\($0)/.config" }
        return [home.map { "\($0)/cached" }, "/etc/cached"].compactMap(\.self)
    }

    /// A broken link counts as existing, and so does a path that may not be searched: its file may exist.
    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 || ![ENOENT, ENOTDIR].contains(errno)
    }
}
