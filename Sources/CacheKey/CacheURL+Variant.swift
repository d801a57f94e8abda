/// The variant that a URL names in its fragment.
///
///     let url = try CacheURL("https://example.com/a.jpg#as=ada&side=256")
///     print(url.side, url.account, url.original)  // 256, ada, https://example.com/a.jpg#as=ada
extension CacheURL {
    /// The lengths that the longer side of a derived image can have, in pixels.
    public static var sides: [Int] { Fragment.sides }

    /// The longer side of the image in pixels, if the URL names a derived image: 32, 64, 128, 256, 512, 1024 or 2048.
    /// `nil` for an image as its origin has it.
    public var side: Int? { fragment?.side }

    /// The account that the image belongs to, decoded: 1 to 128 bytes of UTF-8. `nil` for an image of everybody.
    public var account: String? { fragment?.account }

    /// The URL of the image that a derived image is made of: the URL without `side`.
    public var original: CacheURL {
        guard side != nil,
            let end = string.utf8.lastIndex(where: {
                $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "#")
            })
        else { return self }
        return CacheURL(checked: String(string[..<end]))
    }

    /// The URL of the image that this one is made of: for a derived image its original, for that of an account the image of
    /// everybody.
    public var source: CacheURL { side == nil ? withoutFragment : original }

    /// The URL without its fragment, as the origin knows it.
    public var withoutFragment: CacheURL {
        mark.map { CacheURL(checked: String(string[..<$0])) } ?? self
    }

    /// The URL of the image that is derived from this one.
    ///
    /// - Parameter side: the longer side in pixels, one of those that ``side`` can have.
    /// - Throws: ``InvalidURL`` if the cache derives no such size, or the URL becomes too long.
    public func derived(side: Int) throws(InvalidURL) -> CacheURL {
        let original = original
        return try CacheURL("\(original.string)\(original.mark == nil ? "#" : "&")side=\(side)")
    }

    /// The URL of the same image for an account.
    ///
    /// - Throws: ``InvalidURL`` if an account cannot have that name, or the URL becomes too long.
    public func of(account: String) throws(InvalidURL) -> CacheURL {
        let side = side.map { "&side=\($0)" } ?? ""
        return try CacheURL("\(withoutFragment.string)#as=\(Fragment.encoded(account))\(side)")
    }

    /// The account that a text names if it is a URL.
    public static func account(in text: String) -> String? { variant(text)?.account }

    /// The longer side of the derived image that a text names, if it is the URL of one.
    public static func side(in text: String) -> Int? { variant(text)?.side }

    private static func variant(_ text: String) -> CacheURL? {
        guard text.utf8.contains(UInt8(ascii: "#")) else { return nil }
        do {
            return try CacheURL(text)
        } catch {
            return nil
        }
    }

    /// The fragment with its `#`; empty if there is none.
    var fragmentText: Substring { mark.map { string[$0...] } ?? "" }

    private var fragment: Fragment? {
        guard let mark else { return nil }
        var text = String(string[string.utf8.index(after: mark)...])
        // It was checked when the URL was.
        return text.withUTF8 { try? Fragment(UnsafeRawBufferPointer($0)[...]) }
    }

    private var mark: String.Index? { string.utf8.firstIndex(of: UInt8(ascii: "#")) }
}
