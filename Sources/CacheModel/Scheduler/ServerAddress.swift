/// The address and port that a connection leads to.
package struct ServerAddress: Hashable, Sendable {
    private let bytes: [UInt8]
    private let port: UInt16

    package init(bytes: [UInt8], port: UInt16) { (self.bytes, self.port) = (bytes, port) }
}
