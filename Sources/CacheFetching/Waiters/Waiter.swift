package import CacheKey
package import CacheValues

/// One caller's request for a set of images, until all of them are settled.
package struct Waiter: Sendable {
    package let client: ClientID
    package let priority: Priority
    /// The derived image that the caller stands for, if it is none of the users.
    package var variant: CacheKey?
    /// The failed attempts after which it takes the failure. `nil` if the retry policy decides.
    package let attempts: Int?
    package let deadline: ContinuousClock.Instant?
    /// Whether its images stay the last to be evicted until ``CacheState/waiterReported(_:)``.
    package let isHeld: Bool
    /// Images that are not settled yet.
    package var pending: Set<CacheKey> = []
    /// The images that failed, with the reasons.
    package var failures: [CacheKey: Failure] = [:]
    /// Images that the caller was given. A caller that replaces it does not request them again.
    package var delivered: Set<CacheKey> = []
    /// Whether the caller requires the origin's confirmation. An image that the origin could not
    /// confirm then counts as failed.
    package var isRefresh = false
    /// Whether the caller has named all of its images. Before that, an empty `pending` does not
    /// mean that the request is settled.
    package var isComplete = false

    package init(_ options: FetchOptions) {
        client = options.client
        priority = options.priority
        attempts = options.attempts
        deadline = options.deadline
        isHeld = options.isHeld
    }
}
