import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("File system type")
struct FileSystemTypeTests {
    private func type(_ magic: Int) -> FileSystemType { FileSystemType(type: magic) }

    /// From /usr/include/linux/magic.h and, for the rest, from statfs(2).
    @Test(arguments: [
        0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x517B, 0x0102_1997, 0x6573_5546, 0x00C3_6400,
    ])
    func fileSystemsThatOthersCanChangeAreShared(magic: Int) {
        #expect(type(magic).isShared && !type(magic).isInMemory)
        #expect(type(Int(Int32(truncatingIfNeeded: magic))).isShared)
    }

    @Test(arguments: [0xEF53, 0x5846_5342, 0x9123_683E, 0x794C_7630])
    func localFileSystemsAreNotShared(magic: Int) {
        #expect(!type(magic).isShared && !type(magic).isInMemory)
    }

    @Test(arguments: [0x0102_1994, 0x8584_58F6])
    func someFileSystemsAreInMemory(magic: Int) {
        #expect(type(magic).isInMemory && !type(magic).isShared)
    }
}
