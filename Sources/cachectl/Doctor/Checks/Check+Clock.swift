import CacheKey

extension Check {
    /// Whether the clock is right: not before this program was made, nor before images were cached.
    static let clock = Check("clock") { examination in
        let time = TimeText.describe(unixSecond: examination.now)
        let fix = "set the clock: timedatectl set-ntp true"
        if let program = FileFacts("/proc/self/exe"), program.modifiedAt > examination.now + slack {
            let made = TimeText.describe(unixSecond: program.modifiedAt)
            return [.wrong("the clock says \(time), but this program is from \(made)", fix: fix)]
        }
        guard let path = examination.directory, let folder = OpenFolder(at: path) else {
            return [.ok("it is \(time)")]
        }
        let future = images(in: folder, after: examination.now + slack)
        guard let first = future.first else { return [.ok("it is \(time)")] }
        return [
            .wrong(
                "the clock says \(time), but \(CountText.describe(future.count, "image")) such as "
                    + "\(first) \(future.count == 1 ? "is" : "are") from later",
                fix: "\(fix); if it is right: find \(path) -newermt now -exec touch {} +")
        ]
    }

    /// Clocks of file servers and of this machine can differ a little.
    private static let slack = 60

    private static func images(in folder: OpenFolder, after time: Int) -> [String] {
        var found: [String] = []
        try? folder.each { name, _ in
            guard CacheKey(name) != nil, let facts = FileFacts(name, in: folder),
                max(facts.modifiedAt, facts.readAt) > time
            else { return }
            found.append(name)
        }
        return found
    }
}
