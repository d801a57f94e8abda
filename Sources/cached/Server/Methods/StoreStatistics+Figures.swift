import CacheCore
import CacheValues
import CacheWire

extension StoreStatistics {
    /// The members of `Stats` about the store.
    var figures: [String: JSONValue] {
        var figures = counts.mapValues { JSONValue.int($0) }
        figures["storeState"] = .string(state)
        figures["storeWriteState"] = .string(writeState)
        figures["storeLastError"] = lastError.map { .string($0) }
        figures["storeLastErrorAt"] = lastErrorAt.map { .int(Int($0.rawValue)) }
        return figures
    }
}
