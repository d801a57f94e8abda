internal import CacheKey
import CacheValues
import HTTPCaching
internal import ImageFormats

/// The attributes of an entry beside its record.
struct FurtherAttributes: Sendable {
    let mediaType: MediaType
    let digest: ContentDigest
    let validators: Validators
    /// The URL that names the image.
    let name: CacheURL
    /// The URL that it was downloaded from.
    let url: CacheURL
}
