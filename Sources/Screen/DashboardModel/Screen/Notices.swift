// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The messages to the user. Each is shown for some seconds at the bottom of the screen, and remains in the list of
/// messages.
package struct Notices: Sendable {
  private static let mostShown = 3
  private static let mostKept = 200

  /// The messages that are shown now, newest last.
  package private(set) var shown: [Toast] = []
  /// All stored messages, newest last. They include messages that are no longer shown.
  package private(set) var kept: [Toast] = []
  /// The count of all messages so far, including dropped messages.
  package private(set) var count = 0

  package init() {}

  package mutating func tell(_ toast: Toast) {
    shown = (shown + [toast]).suffix(Self.mostShown)
    kept = (kept + [toast]).suffix(Self.mostKept)
    count += 1
  }

  /// Removes the messages from the screen. They remain in the list.
  package mutating func dismiss() { shown = [] }

  /// Removes from the screen the messages whose display time is over.
  package mutating func age(to now: Timestamp) { shown.removeAll { $0.expiry <= now } }

  /// Shows other messages on the screen. They are not added to the list.
  package mutating func show(_ toasts: [Toast]) { shown = toasts.suffix(Self.mostShown) }

  /// Shifts the times of the messages on the screen after the clock was set back.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    for index in shown.indices { shown[index].shownAt = moved(shown[index].shownAt) }
  }
}
