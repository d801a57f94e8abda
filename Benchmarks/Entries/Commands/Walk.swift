import ArgumentParser
import CLinux
import Glibc

/// `walk`: the minimal cost of reading a directory of entries, as a reference.
struct Walk: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read each name, its status and one attribute; print the time.")

    @Argument(help: "The directory.")
    var path: String

    func run() throws {
        guard chdir(path) == 0, let stream = opendir(".") else {
            throw ValidationError("cannot read \(path)")
        }
        defer { closedir(stream) }
        var count = 0
        let duration = ContinuousClock().measure { count = Self.walk(stream) }
        print("{\"entries\":\(count),\"seconds\":\(duration / .seconds(1))}")
    }

    private static func walk(_ stream: OpaquePointer) -> Int {
        let prefix = Array("user.cached.".utf8CString.dropLast())
        let digits = 8
        var attribute = prefix + [CChar](repeating: 0, count: digits + 1)
        var value = [UInt8](repeating: 0, count: 4096)
        var facts = stat()
        var count = 0
        while let entry = readdir(stream) {
            withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                let name = UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self)
                guard strlen(name) == 36, fstatat(dirfd(stream), name, &facts, 0) == 0 else {
                    return
                }
                for place in 0..<digits { attribute[prefix.count + place] = name[place] }
                if lgetxattr(name, attribute, &value, value.count) > 0 { count += 1 }
            }
        }
        return count
    }
}
