import CClient

/// Reads the state of images from the cache directory alone; `docs/lookup/disk-format.md`, "Reading without the daemon".
public struct Folder: ~Copyable {
    /// `DIRECTORY/NAME.part` and a NUL. The name is overwritten for each image.
    private let path: UnsafeMutablePointer<UInt8>
    /// The index of the name's first byte.
    private let start: Int
    /// The owner of the directory; files of other users are ignored. -1 until the directory was inspected.
    private var owner: Int64 = -1

    public init(_ directory: [UInt8]) {
        var length = directory.count
        // A link with a slash at its end would count as the directory it leads to. lstat(2).
        while length > 1, directory[length - 1] == UInt8(ascii: "/") { length -= 1 }
        start = length + 1
        path = .allocate(capacity: start + ImageName.length + 6)
        for index in 0..<length { path[index] = directory[index] }
        path[length] = UInt8(ascii: "/")
    }

    deinit {
        path.deallocate()
    }

    /// The path of the image looked up last, with a NUL at its end.
    public var lastPath: UnsafePointer<CChar> { cString(path) }

    /// Looks up an image, and sets ``lastPath`` to the path of its file.
    public mutating func look(_ name: ImageName) throws(FolderFailure) -> FolderImage {
        name.write(to: path + start)
        setSuffix("")
        guard try hasOwner() else { return FolderImage() }
        if let image = try cached() { return image }
        if let image = partial() { return image }
        // The image can have been published in between.
        return try cached() ?? FolderImage()
    }

    /// The largest smaller size of an image that is cached, with ``lastPath`` as the path of its file; `nil` if there is
    /// none. `docs/lookup/variants.md`
    public mutating func standIn(_ url: [UInt8]) throws(FolderFailure) -> FolderImage? {
        guard try hasOwner() else { return nil }
        var (variant, limit) = Self.stem(url)
        variant.reserveCapacity(variant.count + 10)
        let hasFragment = variant.contains(UInt8(ascii: "#"))
        variant.append(hasFragment ? UInt8(ascii: "&") : UInt8(ascii: "#"))
        variant += StaticText.bytes("side=")
        let count = variant.count
        setSuffix("")
        for side in Self.sides where side.number < limit {
            variant.removeLast(variant.count - count)
            variant += UnsafeBufferPointer(
                start: side.text.utf8Start, count: side.text.utf8CodeUnitCount)
            variant.withUnsafeBytes { ImageName(url: $0) }.write(to: path + start)
            if let image = try cached() { return image }
        }
        return nil
    }

    /// The sizes that the daemon makes, the largest first.
    private static let sides: [(number: Int64, text: StaticString)] = [
        (2048, "2048"), (1024, "1024"), (512, "512"), (256, "256"), (128, "128"), (64, "64"),
        (32, "32"),
    ]

    /// A URL without its size, and the size; above all sizes for an original.
    private static func stem(_ url: [UInt8]) -> (stem: [UInt8], side: Int64) {
        let word = StaticText.bytes("side=")
        guard
            let mark = url.lastIndex(where: { [UInt8(ascii: "#"), UInt8(ascii: "&")].contains($0) }
            ),
            url[mark...].dropFirst().starts(with: word),
            let side = url.withUnsafeBytes({ $0.decimal(at: mark + 1 + word.count) })
        else { return (url, 4096) }
        return (Array(url[..<mark]), side)
    }

    /// Opens the file of a cached image for reading; -1 if there is none.
    public mutating func open(_ name: ImageName) throws(FolderFailure) -> Int32 {
        guard try look(name).state == .cached else { return -1 }
        var file = cclient_file()
        return cclient_open_file(lastPath, &file)
    }

    private mutating func cached() throws(FolderFailure) -> FolderImage? {
        var file = cclient_file()
        guard cclient_look(lastPath, &file) == 0 else {
            try explain(cclient_errno())
            return nil
        }
        guard file.is_regular != 0, file.size > 0, file.is_readable != 0,
            try isOwners(file.owner), let record = try record(fileSize: file.size)
        else { return nil }
        return FolderImage(
            state: .cached, received: file.size, total: file.size, type: record.type,
            width: record.width, height: record.height, freshUntil: record.freshUntil,
            isPinned: record.isPinned, identity: file.identity)
    }

    /// Distinguishes a missing file from a directory that cannot be read.
    private mutating func explain(_ cause: Int32) throws(FolderFailure) {
        if cause == EACCES { throw .isClosed }
        guard cause == ENOTDIR else { return }
        // It was a directory when it was inspected.
        owner = -1
        _ = try hasOwner()
    }

    private mutating func isOwners(_ user: UInt32) throws(FolderFailure) -> Bool {
        if owner == Int64(user) { return true }
        // The directory can have been replaced since it was inspected.
        owner = -1
        return try hasOwner() && owner == Int64(user)
    }

    /// Inspects the directory unless its owner is known. Returns whether it exists. statx(2).
    ///
    /// An accepted directory is not inspected again for each image, which would cost a third system call. If another
    /// user's directory replaces it, the owner of the files shows it.
    private mutating func hasOwner() throws(FolderFailure) -> Bool {
        if owner >= 0 { return true }
        path[start - 1] = 0
        defer { path[start - 1] = UInt8(ascii: "/") }
        var directory = cclient_file()
        guard cclient_look(lastPath, &directory) == 0 else {
            guard cclient_errno() == ENOENT else { throw .isUnreachable }
            return false
        }
        if directory.is_link != 0 { throw .isLink }
        guard directory.is_directory != 0 else { throw .isNoDirectory }
        guard isTrusted(directory.owner) else { throw .isForeign }
        owner = Int64(directory.owner)
        return true
    }

    /// Whether a user is the one of this process, or not a person: root, a system account, or a dynamic user of
    /// systemd.
    private func isTrusted(_ user: UInt32) -> Bool {
        user == geteuid() || user < 1000 || (61184...65519).contains(user)
    }

    /// The record in `user.cached.` and the first eight digits of the name. lgetxattr(2).
    private func record(fileSize: Int64) throws(FolderFailure) -> FileRecord? {
        let prefix: StaticString = "user.cached."
        let length = prefix.utf8CodeUnitCount
        var isClosed = false
        let record: FileRecord? = withUnsafeTemporaryAllocation(
            of: UInt8.self, capacity: FileRecord.room + length + 9
        ) { room in
            guard let base = room.baseAddress else { return nil }
            let attribute = base + FileRecord.room
            for index in 0..<length { attribute[index] = prefix.utf8Start[index] }
            for index in 0..<8 { attribute[length + index] = path[start + index] }
            attribute[length + 8] = 0
            let count = lgetxattr(lastPath, cString(attribute), base, FileRecord.room)
            isClosed = count < 0 && cclient_errno() == EACCES
            guard count > 0 else { return nil }
            return FileRecord(
                UnsafeRawBufferPointer(start: base, count: count), fileSize: fileSize)
        }
        if isClosed { throw .isClosed }
        return record
    }

    private func partial() -> FolderImage? {
        setSuffix(".part")
        defer { setSuffix("") }
        var file = cclient_file()
        let descriptor = cclient_open_file(lastPath, &file)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return FolderImage(
            state: cclient_is_held(descriptor) != 0 ? .inFlight : .interrupted,
            received: file.size, total: total(of: descriptor))
    }

    /// fgetxattr(2).
    private func total(of file: Int32) -> Int64 {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { room in
            let count = fgetxattr(file, "user.cached.total", room.baseAddress, room.count)
            guard count > 0 else { return -1 }
            let digits = UnsafeRawBufferPointer(start: room.baseAddress, count: count)
            guard digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return -1 }
            return digits.decimal(at: 0) ?? -1
        }
    }

    private func setSuffix(_ suffix: StaticString) {
        let end = start + ImageName.length
        for index in 0..<suffix.utf8CodeUnitCount { path[end + index] = suffix.utf8Start[index] }
        path[end + suffix.utf8CodeUnitCount] = 0
    }
}

func cString(_ bytes: UnsafePointer<UInt8>) -> UnsafePointer<CChar> {
    UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self)
}
