/// The types that an inspection names.
@_exported import MediaTypes
