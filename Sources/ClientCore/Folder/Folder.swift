import CClient

/// Reads the state of images from the cache directory alone; `docs/disk-format.md`, "Reading without the daemon".
public struct Folder: ~Copyable {
    /// `DIRECTORY/NAME.part` and a NUL. The name is written anew for each image.
    private let path: UnsafeMutablePointer<UInt8>
    /// Where the name begins.
    private let start: Int
    /// The owner of the directory, whose files alone are believed; -1 until it was looked up.
    private var owner: Int64 = -1

    public init(_ directory: [UInt8]) {
        start = directory.count + 1
        path = .allocate(capacity: start + ImageName.length + 6)
        for (index, byte) in directory.enumerated() { path[index] = byte }
        path[directory.count] = UInt8(ascii: "/")
    }

    deinit {
        path.deallocate()
    }

    /// The path of the image looked up last, with a NUL at its end.
    public var lastPath: UnsafePointer<CChar> { cString(path) }

    /// Looks an image up. Afterwards ``lastPath`` is the path of its file.
    public mutating func look(_ name: ImageName) -> FolderImage {
        name.write(to: path + start)
        setSuffix("")
        if let image = cached() { return image }
        if let image = partial() { return image }
        // It may have been published in between.
        return cached() ?? FolderImage()
    }

    /// Opens the file of a cached image for reading; -1 with errno.
    public mutating func open(_ name: ImageName) -> Int32 {
        guard look(name).state == .cached else {
            cclient_fail(ENOENT)
            return -1
        }
        return cclient_open(lastPath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    }

    private mutating func cached() -> FolderImage? {
        var file = cclient_file()
        guard cclient_look(lastPath, &file) == 0, file.is_regular != 0, file.size > 0,
            file.is_readable != 0, isOwners(file.owner), let record = record(fileSize: file.size)
        else { return nil }
        return FolderImage(
            state: .cached, received: file.size, total: file.size, type: record.type,
            width: record.width, height: record.height, freshUntil: record.freshUntil)
    }

    private mutating func isOwners(_ user: UInt32) -> Bool {
        if owner == Int64(user) { return true }
        // The directory may have been replaced since it was looked up.
        path[start - 1] = 0
        defer { path[start - 1] = UInt8(ascii: "/") }
        owner = cclient_owner(lastPath)
        return owner == Int64(user)
    }

    /// The record in `user.cached.` and the first eight digits of the name. lgetxattr(2).
    private func record(fileSize: Int64) -> EntryRecord? {
        let prefix: StaticString = "user.cached."
        let length = prefix.utf8CodeUnitCount
        return withUnsafeTemporaryAllocation(
            of: UInt8.self, capacity: EntryRecord.room + length + 9
        ) { room in
            guard let base = room.baseAddress else { return nil }
            let attribute = base + EntryRecord.room
            for index in 0..<length { attribute[index] = prefix.utf8Start[index] }
            for index in 0..<8 { attribute[length + index] = path[start + index] }
            attribute[length + 8] = 0
            let count = lgetxattr(lastPath, cString(attribute), base, EntryRecord.room)
            guard count > 0 else { return nil }
            return EntryRecord(
                UnsafeRawBufferPointer(start: base, count: count), fileSize: fileSize)
        }
    }

    private func partial() -> FolderImage? {
        setSuffix(".part")
        defer { setSuffix("") }
        let file = cclient_open(lastPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = cclient_file()
        guard cclient_look_at(file, &status) == 0, status.is_regular != 0 else { return nil }
        return FolderImage(
            state: cclient_is_held(file) != 0 ? .inFlight : .interrupted,
            received: status.size, total: total(of: file))
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
