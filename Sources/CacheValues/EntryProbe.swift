/// The result of looking at one file name of the directory without opening the file.
package enum EntryProbe: Hashable, Sendable {
    /// A whole image of the cache, or one that was copied in on a file system without attributes.
    case entry(EntryFacts)
    /// The name is free.
    case absent
    /// A file that is not an entry, over which a fetch renames its image: a file without attributes, of
    /// another size than its record, empty, or of another user; or a link, FIFO, socket or device.
    case unusable
    /// A directory. A file cannot be renamed over it.
    case obstructed
}
