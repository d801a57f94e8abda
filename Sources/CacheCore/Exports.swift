// The public functions of this module take and return types of these modules. So every file of this module
// and every module that imports it sees them.

@_exported public import CacheModel
@_exported public import HTTPCaching
@_exported public import ImageFormats
