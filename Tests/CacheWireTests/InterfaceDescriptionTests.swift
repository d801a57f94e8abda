import CacheWire
import Foundation
import Testing

@Suite struct InterfaceDescriptionTests {
    private let cache = InterfaceText(InterfaceDescription.cache)
    private let service = InterfaceText(InterfaceDescription.service)

    @Test func servesTheInstalledFileByteForByte() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../etc/io.cached.Cache.varlink")
        let bytes = try Data(contentsOf: file.standardized)
        #expect([UInt8](bytes) == [UInt8](InterfaceDescription.cache.utf8))
    }

    @Test func onlyTheTwoInterfacesAreServed() {
        #expect(InterfaceDescription.text(of: cache.name) == InterfaceDescription.cache)
        #expect(InterfaceDescription.text(of: service.name) == InterfaceDescription.service)
        #expect(InterfaceDescription.text(of: "io.cached.Other") == nil)
    }

    @Test func methodNamesMatchTheDescription() {
        let described =
            cache.methods.map { "\(cache.name).\($0)" }
            + service.methods.map { "\(service.name).\($0)" }
        #expect(Set(described) == Set(MethodName.allCases.map(\.rawValue)))
    }

    @Test func itemAndFailureMatchTheDescription() throws {
        #expect(try FieldRecorder.fields(of: Item.self) == cache.structs["Item"])
        #expect(try FieldRecorder.fields(of: Failure.self) == cache.structs["Failure"])
    }

    @Test func parametersAndRepliesMatchTheDescription() throws {
        try expectAgreement(Methods.Status.self, cache)
        try expectAgreement(Methods.Fetch.self, cache)
        try expectAgreement(Methods.Watch.self, cache)
        try expectAgreement(Methods.List.self, cache)
        try expectAgreement(Methods.Remove.self, cache)
        try expectAgreement(Methods.Pin.self, cache)
        try expectAgreement(Methods.Evict.self, cache)
        try expectAgreement(Methods.Pressure.self, cache)
        try expectAgreement(Methods.Stats.self, cache)
        try expectAgreement(Methods.Where.self, cache)
        try expectAgreement(Methods.Verify.self, cache)
        try expectAgreement(Methods.GetInfo.self, service)
        try expectAgreement(Methods.GetInterfaceDescription.self, service)
    }

    @Test func everyErrorMatchesItsDescription() throws {
        let known: [WireError] = [
            .tooMany(limit: 1), .shuttingDown, .messageTooLarge(limit: 1),
            .invalidMessage(reason: ""), .interfaceNotFound(interface: ""),
            .methodNotFound(method: ""), .methodNotImplemented(method: ""),
            .invalidParameter(parameter: ""), .permissionDenied, .expectedMore,
        ]
        let described =
            cache.errors.map { "\(cache.name).\($0)" }
            + service.errors.map { "\(service.name).\($0)" }
        #expect(known.map(\.name) == described)
        for error in known {
            let message = try JSONSerialization.jsonObject(with: Data(Message.json(error)))
            let parameters = try #require((message as? [String: Any])?["parameters"])
            let names = (parameters as? [String: Any])?.keys.sorted()
            let member = String(error.name.split(separator: ".").last ?? "")
            let fields = cache.structs[member] ?? service.structs[member]
            #expect(names == fields?.map(\.name))
        }
    }

    private func expectAgreement<M: Method>(_ method: M.Type, _ interface: InterfaceText) throws {
        let name = String(M.name.rawValue.dropFirst(interface.name.count + 1))
        let parameters = try FieldRecorder.fields(of: M.Parameters.self)
        #expect(parameters == interface.structs["\(name).Parameters"], "\(name)")
        let reply = try FieldRecorder.fields(of: M.Reply.self)
        #expect(reply == interface.structs["\(name).Reply"], "\(name)")
    }
}
