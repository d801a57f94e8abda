/// The ends of the order of use of one class. The order itself is a list that runs through the entries.
struct UseOrder {
    var oldest = Index.none
    var newest = Index.none
    /// The number of neighbours whose times of use contradict the order.
    var inversions = 0
}
