import CLinux

/// The type of a file system. statfs(2), `f_type`.
struct FileSystemType: Hashable, Sendable {
    private let magic: UInt32

    private init(_ magic: UInt32) {
        self.magic = magic
    }

    init(_ facts: statfs) {
        self.init(type: facts.f_type)
    }

    /// - Parameter type: `f_type`, which some kernels sign-extend.
    init(type: Int) {
        self.init(UInt32(truncatingIfNeeded: type))
    }

    /// Also ext2 and ext3.
    static let ext4 = FileSystemType(0xEF53)
    static let xfs = FileSystemType(0x5846_5342)
    static let tmpfs = FileSystemType(0x0102_1994)
    static let ramfs = FileSystemType(0x8584_58F6)

    /// NFS, CIFS, SMB2, SMB, 9p, FUSE, Ceph, AFS, Coda, Lustre, OCFS2, GFS2.
    private static let shared: Set<FileSystemType> = [
        .init(0x6969), .init(0xFF53_4D42), .init(0xFE53_4D42), .init(0x517B), .init(0x0102_1997),
        .init(0x6573_5546), .init(0x00C3_6400), .init(0x5346_414F), .init(0x7375_7245),
        .init(0x0BD0_0BD0), .init(0x7461_636F), .init(0x0116_1970),
    ]

    /// Whether files are kept in memory, so that only their removal frees it.
    var isInMemory: Bool { self == .tmpfs || self == .ramfs }

    /// Whether other machines or programs can change files without inotify(7) reporting it.
    var isShared: Bool { Self.shared.contains(self) }
}
