/// How the store answered a question without bringing the image.
package enum StoreAnswer: Hashable, Sendable {
    /// There is no such object.
    case missing
    /// There was none, and now there is a claim: other machines know that this one downloads the image.
    case claimed
    /// There is a claim of another machine.
    case awaited
    /// The object is whole but stale, and the entry that was asked about is the same or newer.
    case stale
    /// The object is not what its metadata promise, or no image that this cache accepts.
    case bad(String)
    /// The answer did not arrive in time.
    case late
    /// It did not, and may still come.
    case later
    /// There was no connection, or the store failed.
    case failed(String)
    /// The store asks for fewer requests, and for a pause of so many seconds if it says so.
    case overloaded(retryAfter: Int64?)
    /// The store does not let this machine in.
    case refused(StoreRefusal)
    /// The store was not asked, because a partial download is worth more.
    case notAsked
    /// The question was withdrawn.
    case withdrawn
}
