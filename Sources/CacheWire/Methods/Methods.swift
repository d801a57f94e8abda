/// The methods, one type for each, with the names of the interface description.
///
/// They are in a namespace because other types have the same names, for example `Pressure`.
public enum Methods {}
