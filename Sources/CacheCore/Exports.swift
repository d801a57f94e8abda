// Every file of this module sees these modules, and so does every module that imports this one: its
// public functions take and return their types.

@_exported public import CacheModel
@_exported public import HTTPCaching
@_exported public import ImageFormats
