/// The names of the views in the first line. Pure.
struct TopTabs {
    struct Tab: Hashable {
        let view: TopModel.View
        let text: String
        let columns: Range<Int>
    }

    private(set) var tabs: [Tab] = []

    /// A narrow screen names only the view that is shown.
    init(_ model: TopModel) {
        let isNarrow = model.size.columns < 60
        var column = 0
        for (number, view) in model.views.enumerated() {
            let isShown = view == model.view
            let name = isNarrow && !isShown ? "" : " \(view)"
            let text = isShown ? "[\(number + 1)\(name)]" : " \(number + 1)\(name) "
            tabs.append(Tab(view: view, text: text, columns: column..<(column + text.columns)))
            column += text.columns + 1
        }
    }
}
