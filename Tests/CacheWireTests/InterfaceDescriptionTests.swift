import CacheWire
import Foundation
import Testing

/// The types come from the descriptions by `.ci/interface`, which `make lint` checks. The errors are
/// written by hand.
@Suite struct InterfaceDescriptionTests {
    @Test(arguments: [InterfaceDescription.cacheName, InterfaceDescription.serviceName])
    func servesTheInstalledFileByteForByte(name: String) throws {
        let file = URL(filePath: #filePath).appending(path: "../../../etc/\(name).varlink")
        let bytes = try Data(contentsOf: file.standardized)
        #expect(InterfaceDescription.text(of: name).map { Data($0.utf8) } == bytes)
    }

    @Test func noOtherInterfaceIsServed() {
        #expect(InterfaceDescription.text(of: "io.cached.Other") == nil)
    }

    @Test func everyErrorMatchesItsDescription() throws {
        let known: [WireError] = [
            .tooMany(limit: 1), .tooManyConnections(limit: 1), .noStream, .shuttingDown,
            .messageTooLarge(limit: 1),
            .invalidMessage(reason: ""), .interfaceNotFound(interface: ""),
            .methodNotFound(method: ""), .methodNotImplemented(method: ""),
            .invalidParameter(parameter: "", reason: nil), .permissionDenied(reason: "so"),
            .expectedMore,
        ]
        let written = try known.map { error in
            let reply = try Message.decode(Reply<NoParameters>.self, from: Message.json(error))
            #expect(reply.error == error)
            return "error \(try shape(of: error))"
        }
        let texts = [InterfaceDescription.cache, InterfaceDescription.service]
        let described = texts.flatMap { text in
            text.split(separator: "\n").filter { $0.hasPrefix("error ") }.map {
                String($0.replacing(": int", with: "").replacing(": string", with: ""))
            }
        }
        #expect(written == described)
    }

    /// The last part of the name, and the names of the parameters in parentheses.
    private func shape(of error: WireError) throws -> String {
        let message = try JSONSerialization.jsonObject(with: Data(Message.json(error)))
        let parameters = try #require((message as? [String: Any])?["parameters"] as? [String: Any])
        let member = try #require(error.name.split(separator: ".").last)
        return "\(member) (\(parameters.keys.sorted().joined(separator: ", ")))"
    }
}
