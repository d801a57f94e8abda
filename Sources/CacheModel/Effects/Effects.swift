/// What an event decided: events append to it, the owner of the state carries it out.
package struct Effects: Sendable {
    package var work: [Work] = []
    package var notices: [Notice] = []

    package init() {}

    package var isEmpty: Bool { work.isEmpty && notices.isEmpty }
}
