/// The sockets at which a daemon may answer, in order.
struct Sockets: Sendable {
    let paths: [[UInt8]]
}
