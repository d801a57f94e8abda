import CacheValues
internal import ImageFormats

/// The value of the attribute: fields at fixed offsets, little endian.
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 2 | `v3` |
/// | 2 | 2 | type |
/// | 4 | 4 | flags |
/// | 8 | 8 | size |
/// | 16 | 4 | width, 0 if it is unknown |
/// | 20 | 4 | height, 0 if it is unknown |
/// | 24 | 4 | fetched |
/// | 28 | 4 | fresh until |
/// | 32 | 4 | remove at |
/// | 36 | 4 | lifetime |
/// | 40 | 4 | stale-while-revalidate |
/// | 44 | 4 | stale-if-error |
/// | 48 | 4 | the first four bytes of the digest |
/// | last 4 | 4 | CRC-32 of all bytes before it |
extension EntryRecord {
    private static let version = Array("v3".utf8)
    /// Bytes. A later record can have more fields before its checksum.
    static let length = 56

    /// The value of the attribute. The validators are not part of it.
    package var bytes: [UInt8] {
        var bytes = Self.version
        bytes.reserveCapacity(Self.length)
        bytes.append(littleEndian: UInt16(mediaType.rawValue))
        bytes.append(littleEndian: RecordFlags(self).rawValue)
        bytes.append(littleEndian: size)
        for number in [width ?? 0, height ?? 0] {
            bytes.append(littleEndian: UInt32(clamping: number))
        }
        for time in [fetchedAt, freshUntil, removeAt] {
            bytes.append(littleEndian: time?.rawValue ?? 0)
        }
        for seconds in [terms.lifetime, terms.staleWhileRevalidate, terms.staleIfError] {
            bytes.append(littleEndian: UInt32(clamping: seconds ?? 0))
        }
        bytes.append(littleEndian: digestPrefix)
        bytes.append(littleEndian: RecordChecksum.crc32(bytes))
        return bytes
    }

    /// Parses the value of the attribute. `nil` if it is not a record or is damaged. This runs for every file of a scan.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.length, bytes.starts(with: Self.version),
            RecordChecksum.crc32(bytes.dropLast(4)) == bytes.number(at: bytes.count - 4)
        else { return nil }
        let size = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self))
        guard size >= 0 else { return nil }
        let type = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        let flags = RecordFlags(rawValue: bytes.number(at: 4))
        func time(_ offset: Int, _ flag: RecordFlags) -> UnixTime? {
            flags.contains(flag) ? UnixTime(rawValue: bytes.number(at: offset)) : nil
        }
        func pixels(_ offset: Int) -> Int? {
            let number = Int(bytes.number(at: offset))
            return number > 0 ? number : nil
        }
        self.init(
            size: size, mediaType: UInt8(exactly: type).flatMap(MediaType.init) ?? .other,
            width: pixels(16), height: pixels(20),
            fetchedAt: UnixTime(rawValue: bytes.number(at: 24)),
            freshUntil: time(28, .hasFreshness), validators: Validators(),
            isPinned: flags.contains(.isPinned), terms: ReuseTerms(flags, bytes),
            removeAt: time(32, .hasRemoval))
        digestPrefix = bytes.number(at: 48)
        orientation = flags.orientation
        isShareable = flags.contains(.isShareable)
        isFromStore = flags.contains(.isFromStore)
        isPersonal = flags.contains(.isPersonal)
        awaitsAttributes = flags.contains(.awaitsAttributes)
    }
}

extension ReuseTerms {
    fileprivate init(_ flags: RecordFlags, _ bytes: UnsafeRawBufferPointer) {
        self.init()
        func seconds(_ offset: Int, _ flag: RecordFlags) -> Int64? {
            flags.contains(flag) ? Int64(bytes.number(at: offset)) : nil
        }
        lifetime = seconds(36, .hasLifetime)
        isGuessed = flags.contains(.isGuessed)
        isRuled = flags.contains(.isRuled)
        mustRevalidate = flags.contains(.mustRevalidate)
        staleWhileRevalidate = seconds(40, .hasStaleWhileRevalidate)
        staleIfError = seconds(44, .hasStaleIfError)
    }
}

extension UnsafeRawBufferPointer {
    /// The number of four bytes at an offset.
    fileprivate func number(at offset: Int) -> UInt32 {
        UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
