package import CacheKey
package import CacheValues

/// The last use of an entry. The order of these is the order of use.
package struct Use: Comparable, Sendable {
    package let time: FileTime
    package let key: CacheKey

    package static func < (left: Use, right: Use) -> Bool {
        (left.time, left.key) < (right.time, right.key)
    }
}
