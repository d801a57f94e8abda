/// A file of the directory whose attributes are read: by its name, which does not open it, or open already.
enum FileReference {
    case named(String)
    case open(Int32)
}
