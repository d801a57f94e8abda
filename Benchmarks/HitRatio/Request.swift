/// A request for an object.
package struct Request: Sendable {
    /// The number of the object, from 0.
    package let object: Int
    /// Bytes that the disk holds for the object.
    package let bytes: Int64
    /// Seconds since the beginning of the trace.
    package let second: UInt32

    package init(object: Int, bytes: Int64, second: UInt32) {
        (self.object, self.bytes, self.second) = (object, bytes, second)
    }
}
