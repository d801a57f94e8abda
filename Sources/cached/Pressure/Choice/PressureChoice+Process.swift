import Glibc

extension PressureChoice {
    /// Chooses for this process, from its environment and what the kernel says of it.
    static func ofProcess(_ environment: [String: String]) -> PressureChoice {
        PressureChoice(
            environment: environment, groups: text(of: "/proc/self/cgroup"),
            mounts: text(of: "/proc/self/mountinfo"))
    }

    /// A file of proc(5), whole; `nil` if it can't be read. open(2), read(2).
    private static func text(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &room, room.count)
            guard count >= 0 else { return nil }
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            text += room[..<count]
        }
    }
}
