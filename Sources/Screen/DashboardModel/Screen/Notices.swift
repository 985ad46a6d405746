// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The messages to the user: for some seconds at the bottom of the screen, and in the list of messages.
package struct Notices: Sendable {
  private static let mostShown = 3
  private static let mostKept = 200

  /// The toasts, newest last.
  package private(set) var shown: [Toast] = []
  /// All stored toasts, including earlier ones, newest last.
  package private(set) var kept: [Toast] = []
  /// The total count of messages, including dropped ones.
  package private(set) var count = 0

  package init() {}

  package mutating func tell(_ toast: Toast) {
    shown = (shown + [toast]).suffix(Self.mostShown)
    kept = (kept + [toast]).suffix(Self.mostKept)
    count += 1
  }

  /// Removes the toasts from the screen. The list keeps them.
  package mutating func dismiss() { shown = [] }

  /// Removes expired toasts from the screen.
  package mutating func age(to now: Timestamp) { shown.removeAll { $0.expiry <= now } }

  /// Shows other toasts without adding them to the list.
  package mutating func show(_ toasts: [Toast]) { shown = toasts.suffix(Self.mostShown) }

  /// Shifts the times of the shown toasts.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    for index in shown.indices { shown[index].shownAt = moved(shown[index].shownAt) }
  }
}
