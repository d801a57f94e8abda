extension String {
    /// Passes the bytes of the text to `body`, without a copy if the text is stored as UTF-8.
    func withUTF8Bytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var copy = self
        return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
