import CacheCore
import CacheWire

/// The settings about downloads.
extension Settings {
    static func transfers(_ values: SettingValues) throws -> TransferSettings {
        var transfers = TransferSettings()
        transfers.addressPolicy = AddressPolicy(allowing: try networks(values))
        for word in values.list(.accept) {
            switch word {
            case "any": transfers.acceptsAnything = true
            case "svg": transfers.acceptsSVG = true
            default: throw values.bad(.accept, "svg or any", shown: word)
            }
        }
        transfers.proxy = try proxy(values)
        if let file = values.text(.caFile) {
            try checkCertificates(file, values)
            transfers.certificateFile = file
        }
        try limitTrust(&transfers, values)
        try identify(&transfers, values)
        try limit(&transfers, values)
        return transfers
    }

    private static func networks(_ values: SettingValues) throws -> [AddressRange] {
        try values.list(.allowNetwork).map { text in
            guard let range = AddressRange(text) else {
                throw values.bad(.allowNetwork, "a network like 127.0.0.0/8", shown: text)
            }
            return range
        }
    }

    private static func limitTrust(
        _ transfers: inout TransferSettings, _ values: SettingValues
    ) throws {
        guard try answer(.caOnly, values) == true else { return }
        guard transfers.certificateFile != nil else {
            throw StartFailure.configuration(
                "\(values.place(of: .caOnly)) is set, but no certificates are; name a file with "
                    + "--ca-file (\(SettingName.caFile.rawValue))")
        }
        transfers.trustsOnlyCertificateFile = true
    }

    /// Sets who asks. RFC 9110 §10.1.5.
    private static func identify(
        _ transfers: inout TransferSettings, _ values: SettingValues
    ) throws {
        let contact = try headerText(.contact, values)
        let agent = try headerText(.userAgent, values)
        let contactPart = contact.map { " (+\($0))" } ?? ""
        transfers.userAgent = agent ?? "cached/\(Version.current)\(contactPart)"
        transfers.hasContact = agent != nil || contact != nil
    }

    /// A text that can be part of a header field (RFC 9110 §5.5).
    private static func headerText(
        _ name: SettingName, _ values: SettingValues
    ) throws -> String? {
        guard let text = values.text(name) else { return nil }
        guard text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }), text.count <= 512 else {
            throw values.bad(name, "at most 512 printable characters of ASCII")
        }
        return text
    }

    /// Checks the file now, because libcurl would report a problem only at each download.
    private static func checkCertificates(_ file: String, _ values: SettingValues) throws {
        let lines: [String]
        do throws(TextFile.Problem) {
            lines = try TextFile.lines(of: file)
        } catch {
            throw values.bad(.caFile, "a file of certificates: the file \(error)")
        }
        let begins = /-----BEGIN .*CERTIFICATE-----/
        guard lines.contains(where: { $0.contains(begins) }) else {
            throw values.bad(.caFile, "a file of certificates in PEM")
        }
    }

    private static func limit(
        _ transfers: inout TransferSettings, _ values: SettingValues
    ) throws {
        transfers.transferLimit = try count(.maxTransfers, values)
        transfers.transfersPerHost = try count(.maxTransfersPerHost, values)
        if let time = try seconds(.firstByteTimeout, values) {
            guard 1...86_400 ~= time else {
                throw values.bad(.firstByteTimeout, "a time from 1s to 24h")
            }
            transfers.firstByteTimeout = Int(time)
        }
        transfers.maximumRate = try size(.maxRate, values)
        guard let pixels = values.text(.maxPixels).flatMap({ Int64($0) }), pixels > 0 else {
            throw values.bad(.maxPixels, "a number above 0")
        }
        transfers.maximumPixels = pixels
    }

    /// The number is limited because each download needs a connection and a file.
    private static func count(_ name: SettingName, _ values: SettingValues) throws -> Int {
        guard let count = values.text(name).flatMap({ Int($0) }), 1...1000 ~= count else {
            throw values.bad(name, "a number from 1 to 1000")
        }
        return count
    }
}
