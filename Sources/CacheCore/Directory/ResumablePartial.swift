import HTTPCaching

/// A partial download that can be resumed, open for reading and appending.
struct ResumablePartial: Sendable {
    let file: StagingFile
    let resumption: Resumption
}
