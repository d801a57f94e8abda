/// What is wrong with what lies under the name of an entry.
public enum Damage: Error, Hashable, Sendable {
    // Seen without opening it.

    /// Nothing can be renamed over it.
    case directory
    /// A symbolic link, FIFO, socket or device.
    case notAFile
    case otherOwner
    /// Its owner may not read it.
    case unreadable
    case empty
    /// No record that can be read, as after a copy without attributes.
    case noRecord
    /// Of another size than its record says.
    case wrongSize(recorded: Int64)
    /// It could not be written to the disk when it was published.
    case unsynchronized

    // Found by reading it.

    /// No SHA-256 to compare the bytes with.
    case noDigest
    /// The bytes have another SHA-256.
    case wrongBytes
    /// The attribute for other programs says another type than the record.
    case wrongType
    /// The attribute for other programs holds another URL than the name was made from.
    case wrongURL
    /// The disk does not give the bytes back.
    case unreadableBytes(reason: String)
}

extension Damage: CustomStringConvertible {
    /// What happened to the entry, for a person.
    public var description: String {
        switch self {
        case .directory: "a directory lies under its name; move it away"
        case .notAFile: "what lies under its name is no file"
        case .otherOwner: "the file belongs to another user"
        case .unreadable: "the file's permissions do not let its owner read it"
        case .empty: "the file is empty"
        case .noRecord: "the file has no record, or one that was garbled"
        case .wrongSize(let recorded):
            "the file has another size than the \(recorded) bytes fetched"
        case .unsynchronized: "the file may not survive a power cut, and can't be removed"
        case .noDigest: "the SHA-256 of the bytes fetched is lost, or was garbled"
        case .wrongBytes: "the bytes are not those fetched: their SHA-256 is another"
        case .wrongType: "the attribute user.mime_type is lost, or was garbled"
        case .wrongURL: "the attribute user.xdg.origin.url is not the URL of this name"
        case .unreadableBytes(let reason): "the bytes can't be read: \(reason)"
        }
    }
}
