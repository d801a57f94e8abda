/// Reads the item location box, `iloc`: ISO/IEC 14496-12 §8.11.3.
enum HEIFLocations {
    /// The widths of the fields in bytes, which the box declares.
    private struct Widths {
        var offset, length, base, index: Int
    }

    /// The offset of the byte after the last item in this file. `nil` if the box is malformed, or if an item
    /// does not state its end.
    static func end(_ reader: inout ByteReader, version: UInt64) -> UInt64? {
        guard let packed = reader.big(2), let count = reader.big(version < 2 ? 2 : 4) else {
            return nil
        }
        let widths = Widths(
            offset: Int(packed >> 12), length: Int(packed >> 8 & 15), base: Int(packed >> 4 & 15),
            index: version == 0 ? 0 : Int(packed & 15))
        guard max(widths.offset, widths.length, widths.base, widths.index) <= 8 else { return nil }
        var end: UInt64 = 0
        for _ in 0..<count {
            guard let itemEnd = itemEnd(&reader, version: version, widths) else { return nil }
            end = max(end, itemEnd)
        }
        return end
    }

    /// The end of the next item, or 0 if the item is in `idat` or in another file. `nil` at the end of the box,
    /// and if an extent has no length, which means that it ends with the file.
    private static func itemEnd(
        _ reader: inout ByteReader, version: UInt64, _ widths: Widths
    ) -> UInt64? {
        guard reader.big(version < 2 ? 2 : 4) != nil,
            let method = reader.big(version == 0 ? 0 : 2), let reference = reader.big(2),
            let base = reader.big(widths.base), let extents = reader.big(2)
        else { return nil }
        var end: UInt64 = 0
        for _ in 0..<extents {
            guard reader.big(widths.index) != nil, let offset = reader.big(widths.offset),
                let length = reader.big(widths.length), length > 0
            else { return nil }
            end = max(end, base.plusClamped(offset).plusClamped(length))
        }
        return method & 15 == 0 && reference == 0 ? end : 0
    }
}
