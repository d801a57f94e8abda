internal import CClient
internal import ClientCore

/// A file of the cache. The cache never changes a file in place, so a program that has it open keeps the bytes that
/// it opened.
public struct ImageFile: Sendable, Hashable {
    public let url: String
    /// The absolute path of the file.
    public let path: String
    /// The size in bytes.
    public let size: Int64
    /// The type found in the bytes, for example `image/png`.
    public let mediaType: String?
    /// In pixels, as a viewer shows the image.
    public let width: Int?
    /// In pixels, as a viewer shows the image.
    public let height: Int?

    /// Another number for another version of the image, which is another file at the same path: a key for decoded
    /// images. 0 if this process cannot see the directory, as in a sandbox; then ``open()`` still opens the file.
    public let identity: UInt64
    /// Where a daemon is that can pass the file, for processes that cannot see the directory.
    private let place: DaemonPlace

    init(
        url: String, path: String, size: Int64, mediaType: String?, width: Int?, height: Int?,
        place: DaemonPlace
    ) {
        (self.url, self.path, self.size) = (url, path, size)
        (self.mediaType, self.width, self.height) = (mediaType, width, height)
        var file = cclient_file()
        identity = path.withCString { cclient_look($0, &file) } == 0 ? file.identity : 0
        self.place = place
    }

    /// Makes a file for tests of applications: ``ImageCache/init(fake:)``.
    public init(
        url: String, path: String, mediaType: String? = nil, width: Int? = nil, height: Int? = nil
    ) {
        var file = cclient_file()
        let isThere = path.withCString { cclient_look($0, &file) } == 0
        self.init(
            url: url, path: path, size: isThere ? file.size : 0, mediaType: mediaType,
            width: width, height: height, place: DaemonPlace(sockets: []))
    }

    /// Opens the file for reading. If the path cannot be opened, the daemon passes a descriptor, which takes up to
    /// five seconds. This serves programs in a sandbox that see the socket but not the directory.
    ///
    /// - Throws: ``CacheFailure`` of the kind `evicted` if the image is no longer cached, `notPermitted`, or
    ///   `noDaemon` if the file is not there and no daemon answers.
    public func open() throws(CacheFailure) -> OpenFile {
        var file = cclient_file()
        let opened = path.withCString { cclient_open_file($0, &file) }
        if opened >= 0 { return OpenFile(descriptor: opened) }
        let cause = cclient_errno()
        let handed = SingleCall.open(Array(url.utf8), place)
        if handed >= 0 { return OpenFile(descriptor: handed) }
        throw .opening(path, cause: handed == -ENOENT ? ENOENT : cause)
    }

    /// Reads the bytes of the file in place, without copying them. mmap(2).
    ///
    /// - Throws: ``CacheFailure`` as ``open()`` does, or the error of `body`.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws
        -> Result
    {
        let file = try open()
        let count = file.size
        guard count > 0 else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        guard
            let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.descriptor, 0),
            start != UnsafeMutableRawPointer(bitPattern: -1)
        else { throw CacheFailure.opening(path, cause: cclient_errno()) }
        defer { munmap(start, count) }
        return try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    public static func == (left: ImageFile, right: ImageFile) -> Bool {
        left.url == right.url && left.path == right.path && left.size == right.size
            && left.mediaType == right.mediaType && left.width == right.width
            && left.height == right.height && left.identity == right.identity
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(size)
    }
}
