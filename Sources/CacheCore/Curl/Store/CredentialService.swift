import CacheFetching
import CacheValues
import HTTPCaching

/// A service of the platform that gives this machine credentials, which end.
enum CredentialService: Hashable, Sendable {
    /// A token in a file proves who this is: AssumeRoleWithWebIdentity of AWS STS, and of Ceph and MinIO.
    case webIdentity(endpoint: String, tokenFile: String, role: String, session: String)
    /// The agent of ECS or EKS on this machine, with a token that may be in a file.
    case container(url: String, tokenFile: String?, token: String?)
    /// The metadata service of a virtual machine at AWS, version 2.
    case instance(endpoint: String)

    /// Why it gives none.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    private static let patience = Duration.seconds(2)

    /// What messages call it.
    var name: String {
        switch self {
        case .webIdentity(let endpoint, let file, _, _): "\(endpoint) with the token in \(file)"
        case .container(let url, _, _): url
        case .instance(let endpoint): endpoint
        }
    }

    /// The files that it needs.
    var files: [String] {
        switch self {
        case .webIdentity(_, let file, _, _): [file]
        case .container(_, let file, _): [file].compactMap(\.self)
        case .instance: []
        }
    }

    /// Waits some seconds at most.
    func credentials(_ requests: BriefRequests) throws(Problem) -> TemporaryCredentials {
        let document = try document(requests)
        guard let credentials = TemporaryCredentials(document) else {
            throw Problem(description: "it sent no credentials")
        }
        return credentials
    }

    private func document(_ requests: BriefRequests) throws(Problem) -> String {
        switch self {
        case .webIdentity(let endpoint, let file, let role, let session):
            let parameters = [
                ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"),
                ("RoleArn", role), ("RoleSessionName", session),
                ("WebIdentityToken", try Self.token(in: file)),
            ]
            let query = parameters.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
            return try Self.ask(requests, .get, "\(endpoint)/?\(query)")
        case .container(let url, let file, let token):
            let token = try file.map { (file) throws(Problem) in try Self.token(in: file) } ?? token
            let fields = token.map { [RequestField(name: "Authorization", value: $0)] } ?? []
            return try Self.ask(requests, .get, url, fields)
        case .instance(let endpoint):
            let nothing = StoreRequest.Method.put(
                UploadedFile([]), digest: ContentDigest(of: []).description)
            let lifetime = RequestField(name: "X-aws-ec2-metadata-token-ttl-seconds", value: "60")
            let token = try Self.ask(requests, nothing, "\(endpoint)/latest/api/token", [lifetime])
            let fields = [RequestField(name: "X-aws-ec2-metadata-token", value: token)]
            let roles = "\(endpoint)/latest/meta-data/iam/security-credentials/"
            let role = try Self.ask(requests, .get, roles, fields)
            return try Self.ask(requests, .get, roles + Self.encoded(role), fields)
        }
    }

    /// The first line of the answer, or all of it if it is a document.
    private static func ask(
        _ requests: BriefRequests, _ method: StoreRequest.Method, _ url: String,
        _ fields: [RequestField] = []
    ) throws(Problem) -> String {
        let request = StoreRequest(method: method, credentials: nil, region: "")
        let answer: BriefRequests.Answer
        do throws(BriefRequests.Failed) {
            answer = try requests.send(request, to: url, fields, within: patience)
        } catch {
            throw Problem(description: error.failure?.message ?? "no answer in time")
        }
        guard answer.head.status == 200 else {
            let explanation = StoreExplanation(answer.head, answer.document)
            throw Problem(description: explanation.refusal.code)
        }
        return String(decoding: answer.document, as: UTF8.self)
    }

    /// A platform replaces the file from time to time.
    private static func token(in file: String) throws(Problem) -> String {
        do throws(CredentialsFile.Problem) {
            let token = try CredentialsFile.text(of: file).filter { !$0.isWhitespace }
            guard !token.isEmpty else { throw CredentialsFile.Problem.noToken }
            return token
        } catch {
            throw Problem(description: "\(file) \(error)")
        }
    }

    /// RFC 3986 §2.3.
    private static func encoded(_ text: String) -> String {
        let hex = Array("0123456789ABCDEF")
        return text.utf8.reduce(into: "") { encoded, byte in
            let character = Character(Unicode.Scalar(byte))
            let isPlain =
                byte < 0x80
                && (character.isLetter || character.isNumber || "-._~".contains(character))
            encoded += isPlain ? String(character) : "%\(hex[Int(byte >> 4)])\(hex[Int(byte & 15)])"
        }
    }
}
