internal import CacheKey
import CacheModel
import CacheValues
import HTTPCaching
internal import SystemPackage

/// A question to the store, and the facts to judge the answer by. Belongs to the thread that asks.
final class StoreLookup {
    let url: String
    /// The first request: for the object's head alone if there is an entry already.
    var request: StoreRequest
    /// The entry's record and digest; `nil` if the whole object is asked for.
    let record: EntryRecord?
    let digest: ContentDigest?
    /// The key that an object has to name to be about this URL.
    let urlDigest: String
    let mayReplacePartial: Bool
    private let access: StoreAccess
    /// The document with which the store explains a failure.
    private(set) var explanation: [UInt8] = []

    private static let longestExplanation = 16 * 1024

    /// - Throws: why there are no credentials.
    init(
        _ key: CacheKey, _ hints: LocalHints, _ question: StoreQuestion, _ access: StoreAccess,
        _ directory: CacheDirectory
    ) throws(CredentialsFile.Problem) {
        self.access = access
        self.url = access.location.url(of: key)
        mayReplacePartial = hints.partial
        let isAboutEntry = question.isAboutEntry && hints.entry
        let record = isAboutEntry ? directory.entryRecord(of: key) : nil
        let digest = record.flatMap { _ in
            ifPossible { () throws(Errno) in try directory.digest(of: key) }
        }
        (self.record, self.digest) = digest == nil ? (nil, nil) : (record, digest)
        urlDigest = StoreMetadata.urlDigest(of: question.name)
        request = try access.request(digest == nil ? .get : .head, headLimit: question.limit)
    }

    /// Takes a piece of the document with which the store explains a failure. A long one is no such document.
    func takeExplanation(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        guard explanation.count + bytes.count <= Self.longestExplanation else { return .refused }
        explanation += bytes
        return .taken
    }

    /// Why an object with this head cannot be the image.
    func problem(of head: ResponseHead) -> Failure? {
        guard head.status == 200 else { return nil }
        guard let record = Self.record(of: head) else {
            return .badObject("it has no record that can be read")
        }
        if head.storeMetadata?.urlDigest != urlDigest { return .badObject("it is of another URL") }
        if !head.contentCodings.isEmpty { return .badObject("its bytes are packed") }
        if let length = head.contentLength, length != record.record.size {
            return .badObject("its length is not that of its record")
        }
        return nil
    }

    /// The record that the object carries.
    static func record(of head: ResponseHead) -> StoreRecord? {
        head.storeMetadata?.record.flatMap { StoreRecord(text: $0) }
    }

    /// The request for the whole object, after the one for its head.
    func wholeObject(_ key: CacheKey) -> StoreRequest {
        var request = request
        request.method = .get
        return request
    }

    /// The credentials did not work.
    func doubtCredentials() { access.doubtCredentials() }
}

extension StoreMetadata {
    /// The SHA-256 of a URL.
    static func urlDigest(of url: CacheURL) -> String {
        ContentDigest(of: Array(url.string.utf8)).description
    }
}

extension Failure {
    /// An object of the store is not what it claims to be.
    static func badObject(_ problem: String) -> Failure { Failure(.protocolError, problem) }
}
