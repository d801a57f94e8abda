import Foundation
import TestSupport
import Testing

// The actions of a user in the page.

extension BrowserDriver {
    /// Pastes, as a user does who has copied something elsewhere.
    func paste(_ text: String, as type: String) async throws {
        try await transfer(
            text, as: type,
            "document.body.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true}))"
        )
    }

    func drop(_ text: String) async throws {
        try await transfer(
            text, as: "text/plain",
            "document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true}))"
        )
    }

    private func transfer(_ text: String, as type: String, _ event: String) async throws {
        let quoted = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        try await perform(
            "{ const data = new DataTransfer(); data.setData('\(type)', \(quoted)); \(event) }")
    }

    /// Moves the keyboard's place to the image with a title.
    func move(to title: String) async throws {
        let cells = try await report().cells
        guard let index = cells.firstIndex(where: { $0.title == title }) else {
            throw TestFailure("\(title) is not on the screen")
        }
        try await press("Home")
        for _ in 0..<index { try await press("ArrowRight") }
        #expect(try await report().cell(title)?.isActive == true)
    }

    /// Waits until nothing is drawn any more, such as a scroll bar that fades.
    func settle() async throws {
        try await waitUntil("still pictures") { try await frames(seconds: 1).frames == 0 }
    }
}
