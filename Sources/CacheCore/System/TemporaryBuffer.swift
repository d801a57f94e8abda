import CacheValues

/// Calls `body` with a buffer on the stack, like `withUnsafeTemporaryAllocation`, but with typed errors.
func withTemporaryBuffer<Result, Failure: Error>(
    _ byteCount: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
    let outcome = withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 16) { buffer in
        do throws(Failure) {
            return Swift.Result<Result, Failure>.success(try body(buffer))
        } catch {
            return Swift.Result<Result, Failure>.failure(error)
        }
    }
    return try outcome.get()
}
