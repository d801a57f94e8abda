import Glibc

extension stat {
    /// Bytes the disk holds for a file. A file system in user space may state any number of blocks; with
    /// 4 TiB at most, the sum of millions of files is a number yet. stat(2), `st_blocks`.
    var allocated: Int64 { Int64(min(max(st_blocks, 0), 1 << 33)) * 512 }
}
