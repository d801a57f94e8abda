/// The types of CacheCore's own API that live in modules below it.
@_exported public import ImageFormats
