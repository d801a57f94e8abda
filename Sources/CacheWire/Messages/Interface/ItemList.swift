// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// The reply of the methods that return one item for each URL.
public struct ItemList: WireValue {
    public var items: [Item]

    public init(
        items: [Item]
    ) {
        self.items = items
    }

    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("items", items)
        }
    }
}
