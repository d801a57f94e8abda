// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Asks the store that several machines share, if there is one, and puts a small object
    /// there for the moment.
    public enum CheckStore: Method {
        public static let name = MethodName.checkStore

        public typealias Parameters = NoParameters

        public struct Reply: WireValue {
            /// The bucket and the prefix, as s3://BUCKET/PREFIX. Absent without a store, and then all
            /// other fields are too.
            public var store: String?
            /// The address of the server.
            public var endpoint: String?
            /// read-write, read or write.
            public var mode: String?
            /// How downloads use the store now: ok, late or refused.
            public var state: String?
            /// Seconds that the clock of this machine is ahead of the store's.
            public var clockDifference: Int?
            /// The time of each request that succeeded, in milliseconds.
            public var getMilliseconds: Double?
            public var putMilliseconds: Double?
            public var deleteMilliseconds: Double?
            /// Whether the store refuses to create an object a second time.
            public var isCreationExclusive: Bool?
            /// What is wrong: the step, the store's own code, and what to do. Absent if all is well.
            public var problem: String?

            public init(
                store: String? = nil,
                endpoint: String? = nil,
                mode: String? = nil,
                state: String? = nil,
                clockDifference: Int? = nil,
                getMilliseconds: Double? = nil,
                putMilliseconds: Double? = nil,
                deleteMilliseconds: Double? = nil,
                isCreationExclusive: Bool? = nil,
                problem: String? = nil
            ) {
                self.store = store
                self.endpoint = endpoint
                self.mode = mode
                self.state = state
                self.clockDifference = clockDifference
                self.getMilliseconds = getMilliseconds
                self.putMilliseconds = putMilliseconds
                self.deleteMilliseconds = deleteMilliseconds
                self.isCreationExclusive = isCreationExclusive
                self.problem = problem
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("store", store)
                    json.member("endpoint", endpoint)
                    json.member("mode", mode)
                    json.member("state", state)
                    json.member("clockDifference", clockDifference)
                    json.member("getMilliseconds", getMilliseconds)
                    json.member("putMilliseconds", putMilliseconds)
                    json.member("deleteMilliseconds", deleteMilliseconds)
                    json.member("isCreationExclusive", isCreationExclusive)
                    json.member("problem", problem)
                }
            }
        }
    }
}
