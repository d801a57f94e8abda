import TestSupport
import Testing

/// One engine for all tests of a suite, which saves the seconds of its start.
///
///     @Suite("Shared store", .serialized, .objectStore)
///     struct StoreTests {
///         @Test func works() async throws {
///             let store = try ObjectStore.ofSuite()
struct SharedObjectStore: SuiteTrait, TestScoping {
    @TaskLocal fileprivate static var store: ObjectStore?

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTestScope { scope in
            let store = try await ObjectStore(in: scope)
            try await Self.$store.withValue(store) { try await function() }
        }
    }
}

extension Trait where Self == SharedObjectStore {
    static var objectStore: Self { Self() }
}

extension ObjectStore {
    /// The engine of the suite. Each test has objects of its own, below a prefix.
    static func ofSuite() throws -> ObjectStore {
        guard let store = SharedObjectStore.store else {
            throw TestFailure("the suite has no trait .objectStore")
        }
        return store
    }
}
