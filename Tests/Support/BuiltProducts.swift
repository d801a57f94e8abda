import Glibc

/// The programs built together with the running test binary. To test other builds of them:
///
///     CACHED_TEST_PROGRAMS=.build/release swift test …
public enum BuiltProducts {
    /// The directory of the test binary. /proc/self/exe, proc(5).
    public static func directory() throws -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { throw TestFailure.syscall("readlink", "/proc/self/exe") }
        let path = String(
            decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }

    /// The path of a program such as `cached` or `cachectl`.
    public static func program(_ name: String) throws -> String {
        let chosen = getenv("CACHED_TEST_PROGRAMS").map { String(cString: $0) }
        let path = "\(try chosen ?? directory())/\(name)"
        guard access(path, X_OK) == 0 else {
            throw TestFailure("\(path) was not built; run `swift build` first")
        }
        return path
    }
}
