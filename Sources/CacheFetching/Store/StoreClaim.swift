/// A small object under the name of an image that a machine downloads. The image replaces it.
package enum StoreClaim {
    /// Seconds for which a claim holds at most. After that its machine has failed.
    package static let lifetime: Int64 = 10
}
