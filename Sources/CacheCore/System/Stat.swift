import Glibc

extension stat {
    /// Bytes that the disk holds for a file, 4 TiB at most. A file system in user space can report any number of
    /// blocks, and the sum over millions of files must not overflow. stat(2), `st_blocks`.
    var allocated: Int64 { Int64(min(max(st_blocks, 0), 1 << 33)) * 512 }
}
