package import CacheKey

/// One caller's request for a set of images, until all of them are settled.
package struct Waiter: Sendable {
    package let client: ClientID
    package let priority: Priority
    /// Images that are not settled yet.
    package var pending: Set<CacheKey> = []
    /// Why some images could not be had.
    package var failures: [CacheKey: Failure] = [:]
    /// Images it has. A caller that takes its place need not ask for them.
    package var delivered: Set<CacheKey> = []
    /// Delivered images that no other caller may be given: stale on arrival, or not to be stored. They are
    /// kept until the caller hears of the end.
    package var unshareable: Set<CacheKey> = []
    /// Insists on the origin's word: an image that the origin could not confirm is a failure.
    package var isRefresh = false
    /// All images are named. Before that an empty `pending` means nothing.
    package var isComplete = false

    package init(_ options: FetchOptions) {
        client = options.client
        priority = options.priority
    }
}
