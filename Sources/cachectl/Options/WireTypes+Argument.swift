public import ArgumentParser
public import CacheWire

extension Priority: ExpressibleByArgument {}

extension PressureLevel: ExpressibleByArgument {}

extension ListOrder: ExpressibleByArgument {}

extension ByteSize: ExpressibleByArgument {}
