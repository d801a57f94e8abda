public import ArgumentParser
public import CacheWire

extension Priority: ExpressibleByArgument {
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension PressureLevel: ExpressibleByArgument {}

extension ListOrder: ExpressibleByArgument {
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension ByteSize: ExpressibleByArgument {}
