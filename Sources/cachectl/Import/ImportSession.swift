/// Imports the images of a list. Each is reported when its name is durable.
struct ImportSession {
    let folder: ImportFolder

    /// How many names become durable by one call of the system.
    private static let batch = 256

    func run(_ list: ImportList) throws {
        var output = Output()
        var status = ExitStatus.success
        for start in stride(from: 0, to: list.images.count, by: Self.batch) {
            let images = list.images[start..<min(start + Self.batch, list.images.count)]
            let results = images.map { image in Result { try add(image) } }
            try folder.synchronize()
            for (image, result) in zip(images, results) {
                do {
                    try output.line("\(try result.get())  \(image.url)")
                } catch let failure as CommandFailure {
                    try output.flush()
                    StandardError.report(image.url, failure.message)
                    status = failure.status == .invalidURL ? .invalidURL : .incomplete
                }
            }
        }
        try output.flush()
        throw status.error
    }

    private func add(_ image: ImportList.Image) throws -> ImportFolder.Outcome {
        try folder.add(image.url, try ImportSource(image.path))
    }
}
