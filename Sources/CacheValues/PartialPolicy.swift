/// Decides what happens to a partial download that no caller waits for.
package enum PartialPolicy {
    /// Bytes of a whole image. A partial of an image up to this size gets its record only when its download
    /// is interrupted: a crash before that costs no more than these bytes.
    package static let smallWhole: Int64 = 64 * 1024
    /// Bytes that are missing. A download with fewer left is finished when its last caller leaves.
    package static let smallRest: Int64 = 16 * 1024
    /// Percent of the whole image that are missing, for the same decision.
    package static let smallPercent: Int64 = 5
    /// Seconds after which a partial is discarded if no caller requested its image again.
    package static let lifetime: Int64 = 86400

    /// Whether stopping the download would save almost nothing, because few bytes are missing.
    package static func isWorthFinishing(received: Int64, total: Int64?) -> Bool {
        guard let total, received <= total else { return false }
        let rest = total - received
        return rest < smallRest || rest <= total / 100 * smallPercent
    }
}
