import CacheKey
import CacheWire
import Glibc

/// A tree of symbolic links to cached images, with names that people and viewers understand.
///
/// A link belongs to the tree if it leads to a name of an image in the cache directory. Nothing else is ever changed.
/// Each folder is opened from the one above it without following links, so that nothing outside of the tree is
/// changed, even if another program puts links into it.
final class LinkTree {
    /// The place of a link: its folders and its name.
    typealias Place = [String]

    /// The path of the tree.
    let path: String
    private let root: OpenFolder
    /// The absolute path of the cache directory, with a slash.
    private let cache: String
    /// The known links, by key. Usually each key has one.
    private var places: [String: [Place]] = [:]

    /// No URL that is short enough leads deeper.
    private static let depth = 1100

    /// Creates the folder if it is missing. mkdir(2).
    init(path: String, cache: String) throws(CommandFailure) {
        let isNew = mkdir(path, 0o777) == 0
        guard isNew || errno == EEXIST, let root = OpenFolder(at: path) else {
            guard errno == ENOENT else { throw .system("open the folder \(path)") }
            throw CommandFailure(
                status: .inputOutput,
                message: "cannot make the folder \(path): the folder around it is missing; "
                    + "make both with mkdir -p")
        }
        if let inside = Self.resolved(path), let cache = Self.resolved(cache),
            "\(inside)/".hasPrefix("\(cache)/")
        {
            if isNew { rmdir(path) }
            throw CommandFailure(
                status: .usage,
                message:
                    "\(path) is in the cache directory: choose a folder elsewhere for the links")
        }
        (self.path, self.root, self.cache) = (path, root, cache + "/")
    }

    /// realpath(3).
    private static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The key of the image that a link of the tree leads to; `nil` if the link is not the tree's own.
    private func key(ofTarget target: String) -> String? {
        guard target.hasPrefix(cache) else { return nil }
        return CacheKey(String(target.dropFirst(cache.count))).map { "\($0)" }
    }

    /// Opens a folder of the tree; `nil` if it does not exist any more.
    private func folder(_ names: some Sequence<String>) -> OpenFolder? {
        names.reduce(root) { $0?.folder($1) }
    }
}

// MARK: Making links

extension LinkTree {
    /// Makes the link of a cached image, if there is none yet. An earlier link at another place is removed.
    func link(_ item: Item) throws(CommandFailure) -> (place: Place, isNew: Bool) {
        guard let target = item.path, key(ofTarget: target) == item.key else {
            throw CommandFailure(
                status: .protocolError,
                message: "the daemon's path of \(item.url) is not in its directory")
        }
        let wanted = LinkPlace(url: item.url, key: item.key, mediaType: item.mediaType)
        let present = places[item.key] ?? []
        let kept = present.first { wanted.allows($0) && isLink($0, to: target) }
        for place in present where place != kept { remove(place, target) }
        let place = if let kept { kept } else { try make(wanted, target) }
        places[item.key] = [place]
        return (place, kept == nil)
    }

    private func isLink(_ place: Place, to target: String) -> Bool {
        guard let name = place.last else { return false }
        return folder(place.dropLast())?.target(of: name) == target
    }

    /// mkdirat(2), symlinkat(2).
    private func make(_ wanted: LinkPlace, _ target: String) throws(CommandFailure) -> Place {
        var folder = root
        var place: Place = []
        for name in wanted.directories {
            guard mkdirat(folder.descriptor, name, 0o777) == 0 || errno == EEXIST else {
                throw failure("make the folder", place + [name])
            }
            guard let next = folder.folder(name) else {
                // A link or a file has the name of the folder.
                if errno == ENOTDIR || errno == ELOOP { break }
                throw failure("open the folder", place + [name])
            }
            folder = next
            place.append(name)
        }
        let isWhole = place == wanted.directories
        for name in isWhole ? [wanted.name, wanted.distinctName] : [wanted.distinctName] {
            if symlinkat(target, folder.descriptor, name) == 0 { return place + [name] }
            guard errno == EEXIST else { throw failure("make the link", place + [name]) }
            if folder.target(of: name) == target { return place + [name] }
        }
        throw CommandFailure(
            status: .incomplete,
            message: "other files are in the way of \(described(place + [wanted.distinctName]))")
    }

    private func failure(_ action: String, _ place: Place) -> CommandFailure {
        .system("\(action) \(described(place))")
    }

    /// The path of a place, for people.
    func described(_ place: Place) -> String { "\(path)/\(place.joined(separator: "/"))" }
}

// MARK: Removing links

extension LinkTree {
    /// Removes the links of an image. Returns their places.
    func unlink(_ key: String) -> [Place] {
        let known = places.removeValue(forKey: key) ?? []
        return known.filter { remove($0, cache + key) }
    }

    /// Reads the whole tree, and removes the links whose images are gone. Returns how many they are.
    func prune() throws -> Int {
        places = [:]
        var gone: [(place: Place, target: String)] = []
        try visit(root, []) { place, target, exists in
            guard let key = key(ofTarget: target) else { return }
            if exists {
                places[key, default: []].append(place)
            } else {
                gone.append((place, target))
            }
        }
        return gone.count { remove($0.place, $0.target) }
    }

    /// Calls `body` with each link below a folder.
    private func visit(
        _ folder: OpenFolder, _ place: Place, _ body: (Place, String, Bool) -> Void
    ) throws {
        guard place.count < Self.depth else { return }
        var folders: [String] = []
        try folder.each { name, type in
            // Some file systems do not report the type.
            if type == DT_LNK || type == DT_UNKNOWN, let target = folder.target(of: name) {
                body(place + [name], target, folder.leadsSomewhere(name))
            } else if type == DT_DIR || type == DT_UNKNOWN {
                folders.append(name)
            }
        }
        for name in folders {
            if let below = folder.folder(name) { try visit(below, place + [name], body) }
        }
    }

    /// Removes a link that still leads to `target`, and the folders that are empty then. Returns whether there was
    /// one. unlinkat(2).
    @discardableResult
    private func remove(_ place: Place, _ target: String) -> Bool {
        var folders = place.dropLast()
        guard let name = place.last, let folder = folder(folders),
            folder.target(of: name) == target,
            unlinkat(folder.descriptor, name, 0) == 0
        else { return false }
        while let last = folders.popLast(), let parent = self.folder(folders),
            unlinkat(parent.descriptor, last, Int32(AT_REMOVEDIR)) == 0
        {}
        return true
    }
}
