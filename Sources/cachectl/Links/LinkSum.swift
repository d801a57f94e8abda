import CacheWire

/// The summary of `link`.
struct LinkSum: JSONWritable {
    let directory: String
    /// How many images have a link now.
    var linked = 0
    /// How many links led to images that are gone.
    var removed = 0
    /// How many links could not be made.
    var failed = 0

    var text: String {
        "linked \(linked) \(linked == 1 ? "image" : "images") in \(directory)"
            + (removed > 0 ? ", removed \(removed) old \(removed == 1 ? "link" : "links")" : "")
    }

    func write(to json: inout JSONText) {
        json.object { json in
            json.member("directory", directory)
            json.member("linked", linked)
            json.member("removed", removed)
            json.member("failed", failed)
        }
    }
}
