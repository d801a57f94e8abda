import CacheFetching

/// How a transfer ended.
enum TransferEnd: Sendable {
    /// All bytes of the image have arrived and are verified.
    indirect case staged(StagedImage)
    /// The origin confirmed that the entry is still current.
    case confirmed(Revalidation)
    case failed(FailedTransfer)
    /// The image is derived from another one, and the origin has not confirmed it.
    case originalNeeded
    /// The connections to the origin carry as many downloads as it permits, and there are enough of them.
    case crowded
    /// The store did not bring the image. The time is that from the question to the head of the answer, if there was one.
    case notInStore(StoreAnswer, after: Duration?)
}
