// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

// What the redaction of a recording has to know of a state.

extension DashboardState {
  /// Whether printable keys are text now, and what for.
  package var typedText: TypedText? {
    guard let overlay, overlay.field != nil else { return nil }
    return overlay.kind == .palette ? .command : .content
  }

  package enum TypedText: Sendable {
    /// In the palette.
    case command
    /// In a filter, an editor or a question.
    case content
  }

  package var hasOverlay: Bool { overlay != nil }

  /// The collection of a window; `nil` for one that is not open any more.
  package func path(of window: WindowTag) -> ResourcePath? { browser.path(of: window) }

  /// The window of a collection that an answer is for.
  package func window(of path: ResourcePath) -> WindowTag? {
    browser.windows[path].flatMap { ($0.requested ?? $0.shown)?.tag }
  }
}
