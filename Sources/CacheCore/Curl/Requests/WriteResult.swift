/// The answer to libcurl about a piece of a body. CURLOPT_WRITEFUNCTION(3).
enum WriteResult {
    case taken
    /// The request ends.
    case refused
    /// The transfer pauses; libcurl offers the same piece again when it resumes.
    case paused
}
