/// A cache that holds objects up to a number of bytes and evicts others for them.
package protocol CachePolicy: ~Copyable {
    /// An object is requested. If it is not held, it is put in, unless it is larger than the cache.
    ///
    /// - Returns: whether it was held.
    mutating func request(_ request: Request) -> Bool
}
