import CacheWire

/// Makes the tree of links agree with the cache, once or continuously.
struct LinkSession {
    let client: Client
    /// Connects to the next daemon.
    let connect: () throws -> Client
    let tree: LinkTree
    let json: Bool

    // MARK: Once

    /// Links all images and prints a summary. Always throws, at least the exit status.
    func update() throws {
        var sum = LinkSum(directory: tree.path)
        sum.removed = try tree.prune()
        var pages = ListPages(client: client, filter: .init(order: .age), limit: nil)
        while let page = try pages.next() {
            for item in page where item.state == .cached {
                sum.linked += 1
                if link(item) == nil { sum.failed += 1 }
            }
        }
        sum.linked -= sum.failed
        var output = Output()
        if json { try output.json(sum) } else { try output.line(sum.text) }
        try output.flush()
        throw (sum.failed > 0 ? ExitStatus.incomplete : .success).error
    }

    /// `nil` if the link cannot be made, which standard error reports.
    private func link(_ item: Item) -> (place: LinkTree.Place, isNew: Bool)? {
        do throws(CommandFailure) {
            return try tree.link(item)
        } catch {
            StandardError.report(error.message)
            return nil
        }
    }

    // MARK: Continuously

    /// Follows the changes until the reader of standard output goes away, and prints them.
    func follow() throws {
        let session = WatchSession(client: client, connect: connect, urls: nil)
        // The stream reports removals from now on. Images removed before are gone by now.
        try session.run(begun: { _ = try tree.prune() }) { reply in
            var output = Output()
            for key in reply.removed {
                for place in tree.unlink(key) {
                    try print(
                        LinkChange(change: .removed, key: key, path: tree.described(place)), &output
                    )
                }
            }
            for item in reply.items where item.state == .cached {
                guard let link = link(item), link.isNew else { continue }
                try print(
                    LinkChange(
                        change: .linked, key: item.key, url: item.url,
                        path: tree.described(link.place)), &output)
            }
            try output.flush()
        }
    }

    private func print(_ change: LinkChange, _ output: inout Output) throws {
        guard !json else { return try output.json(change) }
        try output.line("\(change.change.rawValue) \(change.path)")
    }
}
