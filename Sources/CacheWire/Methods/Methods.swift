/// The methods, one type each, named as in the interface description.
///
/// A namespace, so that `Methods.Pressure` and whatever else is called pressure can live together.
public enum Methods {}
