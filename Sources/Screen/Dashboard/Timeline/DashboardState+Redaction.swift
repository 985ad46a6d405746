// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreModel

// Facts about a state that the redaction of a recording needs.

extension DashboardState {
  /// The purpose of the text that printable keys type; `nil` if they type none.
  package var typedText: TypedText? {
    guard let overlay, overlay.field != nil else { return nil }
    return overlay.kind == .palette ? .command : .content
  }

  package enum TypedText: Sendable {
    /// Text in the palette.
    case command
    /// Text in a filter, an editor or a question.
    case content
  }

  package var hasOverlay: Bool { overlay != nil }

  /// The collection of a window; `nil` for one that is not open any more.
  package func path(of window: WindowTag) -> ResourcePath? { browser.path(of: window) }

  /// The window of a collection to which an answer belongs.
  package func window(of path: ResourcePath) -> WindowTag? {
    browser.windows[path].flatMap { ($0.requested ?? $0.shown)?.tag }
  }
}
