import CLinux
internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
internal import ImageFormats
internal import SystemPackage

/// Storing equal bytes once: an image whose bytes a file has already becomes another name of that file.
///
/// The attributes of the name are written first, so that no name is ever without them. The name is first that of a
/// partial, so that everything that can prevent a link shows before the bytes of the image are given up. Then the
/// image is published like all others.
extension CacheDirectory {
    /// The most names of a file. File systems allow at least as many, and a name is found among the others of its file
    /// one by one.
    static let mostNames = 1000

    /// Makes an image another name of a file with the same bytes, up to the point where it is synced. Returns `false`
    /// if it has to have a file of its own.
    ///
    /// - Parameter isProven: whether the bytes need not be compared.
    func shares(
        _ image: inout StagedImage, _ digest: ContentDigest, _ original: any OpenFile,
        isProven: Bool
    ) -> Bool {
        do throws(Errno) {
            let file = original.descriptor
            guard try mayCompare(file, image), try !isTaken(by: image.key, file) else {
                return false
            }
            if !isProven {
                guard try hasBytes(of: image.body, image.record.size, file) else { return false }
            }
            image.twin = original
            guard try mayBeNamed(file, image) else { return false }
            // Its own name leads to the file already if the origin has sent the same bytes again.
            image.isPlaced = isSame(image.name, file)
            do {
                // The room that another thread makes just now is not for this image, which can do without.
                try kernel.storing({ false }) { [image] () throws(Errno) in
                    try writeAttributes(of: image, digest, toOriginal: file)
                    if !image.isPlaced { try linkAsPartial(image.key, file) }
                }
            } catch {
                if !image.isPlaced { removeAttributes(of: image, file) }
                throw error
            }
        } catch {
            // There is no room for attributes, or links are limited or not allowed. A file that is open would not
            // give its space back if it is evicted for this image.
            if error.isFullDisk { image.twin = nil }
            return false
        }
        image.original = original
        image.body = .bytes([])
        image.isNamed = true
        setTimes(of: original.descriptor, image)
        return true
    }

    /// Whether a file can have the bytes of an image, as far as that shows without reading it. The image of an account has
    /// its own file, which only the owner reads: link count and times would tell others about it.
    private func mayCompare(_ file: Int32, _ image: StagedImage) throws(Errno) -> Bool {
        let status = try kernel.status(of: file)
        return status.st_mode & S_IFMT == S_IFREG && status.st_uid == owner
            && status.st_size == image.record.size && identity.inode(of: status) != 0
            && !image.record.isPersonal && status.st_mode & 0o077 != 0
    }

    /// Whether another name of a file has its record in the attribute that this name needs: keys that begin with the
    /// same 32 bits have one attribute. Anybody can find two such URLs.
    private func isTaken(by key: CacheKey, _ file: Int32) throws(Errno) -> Bool {
        let record = EntryRecord.attributeName(of: key)
        guard try withAttribute(record, of: .open(file), { _ in true }) == true,
            !isSame(key.description, file)
        else { return false }
        // A copy of a file has the records of all its names, and a name that another program removed leaves its own.
        return try url(of: key, .open(file)).map { !key.isName(of: $0) } ?? true
    }

    /// Whether a file can have the name of an image too.
    private func mayBeNamed(_ file: Int32, _ image: StagedImage) throws(Errno) -> Bool {
        guard try kernel.status(of: file).st_nlink < Self.mostNames else { return false }
        // An older version may not have known the type.
        guard let type = try attribute(EntryAttributes.mediaType, of: .open(file)) else {
            return true
        }
        return MediaType(name: type) ?? .other == image.record.mediaType
    }

    /// Whether a file has exactly the bytes of an image.
    private func hasBytes(
        of body: ImageBody, _ size: Int64, _ file: Int32
    ) throws(Errno) -> Bool {
        try withTemporaryBuffer(2 * Self.comparedAtATime) { (buffer) throws(Errno) in
            let half = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Self.comparedAtATime])
            let other = UnsafeMutableRawBufferPointer(rebasing: buffer[Self.comparedAtATime...])
            var position: Int64 = 0
            while position < size {
                let count = try kernel.read(file, at: position, into: half)
                guard count > 0, try body.matches(half, count, at: position, other) else {
                    return false
                }
                position += Int64(count)
            }
            return position == size
        }
    }

    /// The bytes of an open file of a known size; `nil` if they cannot be read.
    func bytes(of file: any OpenFile, _ size: Int64) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let count = bytes.withUnsafeMutableBytes { buffer in
            ifPossible { () throws(Errno) in
                try kernel.read(file.descriptor, at: 0, into: buffer)
            }
        }
        return count == bytes.count ? bytes : nil
    }

    private static let comparedAtATime = 64 << 10

    /// Gives a file the name of an image's partial. If there is a partial, it keeps its name until nothing can
    /// prevent that any more: it has the bytes of the image.
    private func linkAsPartial(_ key: CacheKey, _ file: Int32) throws(Errno) {
        let name = Self.partialName(of: key)
        do {
            try kernel.link(file, to: name, in: descriptor)
        } catch .fileExists {
            try Self.linkAsSpare(file, in: descriptor, kernel)
            try kernel.rename(Self.spareName, to: name, in: descriptor)
            // A rename between two names of one file does nothing. rename(2)
            try unlinkIfPresent(Self.spareName)
        }
    }

    private func removeAttributes(of image: StagedImage, _ file: Int32) {
        let key = image.key
        for name in [
            EntryRecord.attributeName(of: key), ValidatorRecord.attributeName(of: key),
            EntryAttributes.url(of: key), EntryAttributes.source(of: key),
        ] {
            ifPossible { () throws(Errno) in try kernel.removeAttribute(name, of: file) }
        }
    }

    private func setTimes(of file: Int32, _ image: StagedImage) {
        ifPossible { () throws(Errno) in
            try kernel.setModificationTime(.now, of: file)
            try kernel.setAccessTime(image.lastUse, of: file)
        }
    }
}

extension ImageBody {
    /// Whether `count` bytes at a position are those of `bytes`.
    fileprivate func matches(
        _ bytes: UnsafeMutableRawBufferPointer, _ count: Int, at position: Int64,
        _ buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Bool {
        switch self {
        case .bytes(let own):
            let start = Int(position)
            guard start + count <= own.count else { return false }
            return own.withUnsafeBytes { own in
                memcmp(own.baseAddress! + start, bytes.baseAddress!, count) == 0
            }
        case .file(let file):
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            return try file.read(at: position, into: part) == count
                && memcmp(part.baseAddress!, bytes.baseAddress!, count) == 0
        }
    }
}
