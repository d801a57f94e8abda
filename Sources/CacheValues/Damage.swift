/// The reason why the file with the name of an entry is not a whole entry.
///
///     print(Damage.wrongBytes)  // the bytes have changed since they were fetched: …
public enum Damage: Error, Hashable, Sendable {
    // The following can be seen without opening the file.

    /// A directory, over which no file can be renamed.
    case directory
    /// A symbolic link, FIFO, socket or device.
    case notAFile
    /// The file belongs to another user.
    case otherOwner
    /// The permissions of the file do not let its owner read it.
    case unreadable
    /// The file has no bytes.
    case empty
    /// The file has no readable record, as after a copy without attributes.
    case noRecord
    /// The size of the file differs from its record.
    case wrongSize(recorded: Int64)

    // The following is found by reading the file.

    /// There is no SHA-256 to compare the bytes with.
    case noDigest
    /// The bytes have another SHA-256.
    case wrongBytes
    /// The attribute for other programs has another type than the record.
    case wrongType
    /// The attribute for other programs has another URL than the one that made the name.
    case wrongURL
    /// The disk does not return the bytes.
    case unreadableBytes(reason: String)
}

extension Damage: CustomStringConvertible {
    /// A message for people that names the problem.
    public var description: String {
        switch self {
        case .directory: "a directory has its name"
        case .notAFile: "its name belongs to a link, FIFO, socket or device"
        case .otherOwner: "the file belongs to another user"
        case .unreadable: "the file's permissions do not let its owner read it"
        case .empty: "the file is empty"
        case .noRecord: "the file has no record, or its record is damaged"
        case .wrongSize(let recorded): "the file does not have the \(recorded) bytes fetched"
        case .noDigest: "the SHA-256 of the bytes fetched is missing or damaged"
        case .wrongBytes: "the bytes have changed since they were fetched: their SHA-256 differs"
        case .wrongType: "the attribute user.mime_type is missing or damaged"
        case .wrongURL: "the attribute user.xdg.origin.url is not the URL of this entry"
        case .unreadableBytes(let reason): "the bytes cannot be read: \(reason)"
        }
    }
}
