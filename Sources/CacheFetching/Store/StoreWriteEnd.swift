/// How a write to the store ended.
package enum StoreWriteEnd: Hashable, Sendable {
    /// The object was written, with so many bytes.
    case written(bytes: Int64)
    case deleted
    case renewed
    /// The mark is there.
    case marked
    /// Somebody else has put the image there.
    case wasThere
    /// There is no object to renew.
    case nothingToRenew
    /// The entry is gone, or is not for others.
    case obsolete
    /// The answer was late, or there was none.
    case failed(String)
    /// The store asks for fewer requests.
    case overloaded(retryAfter: Int64?)
    case refused(StoreRefusal)
}
