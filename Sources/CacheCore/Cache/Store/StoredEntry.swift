import CLinux
internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import ImageFormats
internal import SystemPackage

/// An entry as it is put into the store.
struct StoredEntry {
    let record: EntryRecord
    let digest: ContentDigest
    let file: UploadedFile
    /// The header fields of the object.
    let fields: [RequestField]

    /// Opens the file and reads its attributes. `nil` if there is no such entry any more, or it is not for others.
    init?(_ key: CacheKey, _ cache: Cache) throws(Errno) {
        let descriptor: Int32
        do throws(Errno) {
            descriptor = try Self.open(key, cache)
        } catch .noSuchFileOrDirectory {
            return nil
        }
        let directory = cache.directory
        guard let record = directory.entryRecord(of: key), record.isShareable,
            record.mediaType != .other,
            let digest = ifPossible({ () throws(Errno) in
                try directory.digest(of: key, .open(descriptor))
            }),
            let (url, leftOut) = Self.name(of: key, descriptor, cache),
            Self.size(of: descriptor) == record.size, directory.isSame(key.description, descriptor)
        else {
            close(descriptor)
            return nil
        }
        file = UploadedFile(descriptor: descriptor, size: record.size)
        (self.record, self.digest) = (record, digest)
        var metadata = StoreMetadata(
            record: StoreRecord(record, put: .now).text, digest: digest.description,
            urlDigest: StoreMetadata.urlDigest(of: url), leftOut: leftOut)
        if let key = cache.storeSettings?.signing { metadata.sign(with: key) }
        let type = RequestField(name: "content-type", value: record.mediaType.name)
        fields = [type] + metadata.fields
    }

    /// Opens a file so that reading it does not count as its use, and does not wait if it is a FIFO. open(2).
    private static func open(_ key: CacheKey, _ cache: Cache) throws(Errno) -> Int32 {
        do {
            return try cache.openQuietly(key, O_NONBLOCK | clinux_o_noatime)
        } catch .notPermitted {
            return try cache.openQuietly(key, O_NONBLOCK)
        }
    }

    /// The URL that names the image, and the parameters that the rules left out of it. `nil` if it is a name that other
    /// machines must not believe, see ``FetchingState/hasCommonName(_:)``, or these parameters cannot be told to them.
    private static func name(
        of key: CacheKey, _ file: Int32, _ cache: Cache
    ) -> (CacheURL, leftOut: String?)? {
        let directory = cache.directory
        do {
            guard let text = try directory.url(of: key, .open(file)), key.isName(of: text) else {
                return nil
            }
            let name = try CacheURL(text)
            guard let source = try directory.source(of: key, .open(file)) else {
                return (name, nil)
            }
            let (rules, url) = (cache.ignoredQueries, try CacheURL(source))
            guard rules.name(of: url) == name else { return nil }
            let leftOut = rules.leftOut(of: url).joined(separator: ",")
            let isSendable = leftOut.wholeMatch(of: /[A-Za-z0-9_.~%,-]{0,256}/) != nil
            return isSendable ? (name, leftOut.isEmpty ? nil : leftOut) : nil
        } catch {
            return nil
        }
    }

    /// fstat(2).
    private static func size(of file: Int32) -> Int64? {
        var status = stat()
        return fstat(file, &status) == 0 ? Int64(status.st_size) : nil
    }
}
