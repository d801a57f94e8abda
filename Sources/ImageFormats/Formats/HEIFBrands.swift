/// Determines the media type of a file from the brands in its `ftyp` box.
///
/// AV1 Image File Format §6 (`avif`, `avis`), ISO/IEC 23008-12 annex B (the others) and annex O (`mif3`). `mif1`,
/// `msf1` and `mif3` name the structure and not the codec. With them, the compatible brands show the codec, and with
/// `mif3` the version does too.
enum HEIFBrands {
    private static let avif: Set<FourCC> = ["avif", "avis"]
    private static let hevc: Set<FourCC> = ["heic", "heix", "heim", "heis", "hevc", "hevx"]
    private static let structural: Set<FourCC> = ["mif1", "msf1", "mif3"]

    /// - Parameter field: the payload of the box: major brand, version, compatible brands.
    static func mediaType(of field: ByteField) -> MediaType {
        guard field.bytes.count >= 8 else { return .other }
        let major = FourCC(field, at: 0)
        let compatible = stride(
            from: major == "mif3" ? 4 : 8, through: field.bytes.count - 4, by: 4)
        let brands = Set(compatible.map { FourCC(field, at: $0) } + [major])
        if hevc.contains(major) { return .heic }
        if !brands.isDisjoint(with: avif) { return .avif }
        return brands.isDisjoint(with: hevc.union(structural)) ? .other : .heic
    }
}
