/// The decisions of an event. Events append to the effects, and the owner of the state carries them out.
package struct Effects: Sendable {
    package var work: [Work] = []
    package var notices: [Notice] = []

    package init() {}

    package var isEmpty: Bool { work.isEmpty && notices.isEmpty }
}
