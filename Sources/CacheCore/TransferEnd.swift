/// How a transfer ended.
enum TransferEnd: Sendable {
    /// All bytes are here, and checked.
    case staged(StagedImage)
    /// The origin says that the entry is still what it has.
    case confirmed(Revalidation)
    case failed(FailedTransfer)
}
