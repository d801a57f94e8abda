// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Gives memory back as if a source of pressure had reported this level.
    public enum Pressure: Method {
        public static let name = MethodName.pressure

        public struct Parameters: WireValue {
            public var level: PressureLevel

            public init(
                level: PressureLevel
            ) {
                self.level = level
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("level", level)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case level
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                level = try members.decode(PressureLevel.self, forKey: .level)
            }
        }

        public typealias Reply = RemovedEntries
    }
}
