/// How a transfer ended.
enum TransferEnd: Sendable {
    /// All bytes of the image have arrived and are verified.
    case staged(StagedImage)
    /// The origin confirmed that the entry is still current.
    case confirmed(Revalidation)
    case failed(FailedTransfer)
}
