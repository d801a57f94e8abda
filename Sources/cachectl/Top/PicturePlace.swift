/// The cells of the screen that a picture can take.
struct PicturePlace: Hashable {
    var column: Int
    var line: Int
    var columns: Int
    var lines: Int
}
