import Glibc

/// The program that derives smaller images. It is in a package of its own, which need not be installed.
enum DeriverProgram {
    /// Its path: beside this program, or in `libexec/cached` of the same prefix. `nil` if it is in neither.
    static let path: String? = {
        guard let own = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(own) }
        let folders = String(cString: own).split(separator: "/").dropLast()
        let places = [Array(folders), folders.dropLast() + ["libexec", "cached"]]
        return places.map { "/" + ($0 + ["cached-deriver"]).joined(separator: "/") }
            .first { access($0, X_OK) == 0 }
    }()

    /// The program that loads it with its libraries. ld.so(8)
    static let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]
}
