import CacheCore
import CacheWire
import Configuration
import Glibc

/// The settings about downloads.
extension Settings {
    static func transfers(
        _ options: DaemonOptions, _ reader: ConfigReader
    ) throws -> TransferSettings {
        var transfers = TransferSettings()
        let networks =
            options.allowNetwork.isEmpty
            ? reader.list(.allowNetwork) : options.allowNetwork
        transfers.addressPolicy = AddressPolicy(allowing: try networks.map(network))
        for word in options.accept.map(words) ?? reader.list(.accept) {
            switch word {
            case "any": transfers.acceptsAnything = true
            case "svg": transfers.acceptsSVG = true
            default: throw bad(.accept, word, "svg or any")
            }
        }
        transfers.proxy = try proxy(options, reader)
        if let file = options.caFile ?? reader.string(.caFile) {
            try checkCertificates(file)
            transfers.certificateFile = file
        }
        try limitTrust(&transfers, options, reader)
        try identify(&transfers, options.transfers, reader)
        try limit(&transfers, options.transfers, reader)
        return transfers
    }

    private static func limitTrust(
        _ transfers: inout TransferSettings, _ options: DaemonOptions, _ reader: ConfigReader
    ) throws {
        guard try answer(options.caOnly, .caOnly, reader) == true else { return }
        guard transfers.certificateFile != nil else {
            throw StartFailure.configuration(
                "--ca-only (CACHED_CA_ONLY) is set, but no certificates are; name a file with --ca-file"
            )
        }
        transfers.trustsOnlyCertificateFile = true
    }

    /// Sets who asks. RFC 9110 §10.1.5.
    private static func identify(
        _ transfers: inout TransferSettings, _ options: TransferOptions, _ reader: ConfigReader
    ) throws {
        let contact = try headerText(options.contact, .contact, reader)
        let agent = try headerText(options.userAgent, .userAgent, reader)
        let contactPart = contact.map { " (+\($0))" } ?? ""
        transfers.userAgent = agent ?? "cached/\(Version.current)\(contactPart)"
        transfers.hasContact = agent != nil || contact != nil
    }

    /// A text that can be part of a header field (RFC 9110 §5.5).
    private static func headerText(
        _ option: String?, _ name: SettingName, _ reader: ConfigReader
    ) throws -> String? {
        guard let text = option ?? reader.string(name) else { return nil }
        guard text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }), text.count <= 512 else {
            throw bad(name, text, "at most 512 printable characters of ASCII")
        }
        return text
    }

    /// Checks the file now, because libcurl would report a problem only at each download.
    private static func checkCertificates(_ file: String) throws {
        let lines: [String]
        do throws(TextFile.Problem) {
            lines = try TextFile.lines(of: file)
        } catch {
            throw bad(.caFile, file, "a file of certificates: the file \(error)")
        }
        let begins = /-----BEGIN .*CERTIFICATE-----/
        guard lines.contains(where: { $0.contains(begins) }) else {
            throw bad(.caFile, file, "a file of certificates in PEM")
        }
    }

    private static func limit(
        _ transfers: inout TransferSettings, _ options: TransferOptions, _ reader: ConfigReader
    ) throws {
        if let count = try count(options.maxTransfers, .maxTransfers, reader) {
            transfers.transferLimit = count
        }
        if let count = try count(options.maxTransfersPerHost, .maxTransfersPerHost, reader) {
            transfers.transfersPerHost = count
        }
        if let time = try seconds(options.firstByteTimeout, .firstByteTimeout, reader) {
            guard 1...86_400 ~= time else {
                throw bad(.firstByteTimeout, "\(time)s", "a time from 1s to 24h")
            }
            transfers.firstByteTimeout = Int(time)
        }
        transfers.maximumRate = try size(options.maxRate, .maxRate, reader)
    }

    /// The number is limited because each download needs a connection and a file.
    private static func count(
        _ option: String?, _ name: SettingName, _ reader: ConfigReader
    ) throws -> Int? {
        guard let text = option ?? reader.string(name) else { return nil }
        guard let count = Int(text), (1...1000).contains(count) else {
            throw bad(name, text, "a number from 1 to 1000")
        }
        return count
    }

    private static func network(_ text: String) throws -> AddressRange {
        guard let range = AddressRange(text) else {
            throw bad(.allowNetwork, text, "a network like 127.0.0.0/8")
        }
        return range
    }
}
