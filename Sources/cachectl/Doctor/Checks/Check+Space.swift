import Glibc

extension Check {
    /// Whether the file system has room for the cache that the limits allow. statvfs(3).
    static let space = Check("space") { examination in
        var facts = statvfs()
        guard let path = examination.directory, statvfs(path, &facts) == 0 else { return [] }
        let free = Int(clamping: facts.f_bavail * facts.f_frsize)
        let freeText = ByteCountText.describe(free)
        if facts.f_files > 0, facts.f_favail == 0 {
            return [
                .wrong(
                    "the file system of \(path) has no inodes left",
                    fix: "remove files there, or evict images: cachectl evict --to SIZE")
            ]
        }
        let least = examination.int("bytesMinFree") ?? 0
        if free <= least {
            return [
                .wrong(
                    "\(freeText) are free at \(path), and the daemon must leave "
                        + "\(ByteCountText.describe(least)) free: it stores nothing new",
                    fix: "free space there, or lower --min-free")
            ]
        }
        if let budget = examination.int("bytesBudget"),
            let allowed = examination.int("bytesAllowed"),
            allowed < budget
        {
            return [
                .note(
                    "the cache may take \(ByteCountText.describe(allowed)) instead of "
                        + "\(ByteCountText.describe(budget)), because \(freeText) are free",
                    fix: "free space at \(path), or lower --max-bytes")
            ]
        }
        let taken = 1 - Double(facts.f_bavail) / Double(max(1, facts.f_blocks))
        return [.ok("\(freeText) are free", share: taken)]
    }
}
