/// A partial download changed since the origin was asked for its rest, or could not be read again.
struct PartialChanged: Error {}
