internal import SystemPackage

/// The result of system calls; `nil` if one of them fails, for callers to which every failure says the same.
@discardableResult
func ifPossible<Value>(_ body: () throws(Errno) -> Value?) -> Value? {
    do {
        return try body()
    } catch {
        return nil
    }
}
