public import ArgumentParser
public import CacheWire

extension Priority: ExpressibleByArgument {}

extension PressureLevel: ExpressibleByArgument {}

extension ListOrder: ExpressibleByArgument {}

extension HistoryKind: ExpressibleByArgument {}

extension ByteSize: ExpressibleByArgument {}

extension TimeSpan: ExpressibleByArgument {}

extension ListState: ExpressibleByArgument {
    /// A state in the words of ``CacheWire/Item/stateWord``: `in-flight` instead of `inFlight`.
    public init?(argument: String) {
        guard let state = Self.allCases.first(where: { $0.word == argument }) else { return nil }
        self = state
    }

    public static var allValueStrings: [String] { allCases.map(\.word) }

    private var word: String { self == .inFlight ? "in-flight" : rawValue }
}
