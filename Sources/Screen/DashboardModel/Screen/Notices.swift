// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The messages to the user: for some seconds at the foot of the screen, and in the list of messages.
package struct Notices: Sendable {
  private static let mostShown = 3
  private static let mostKept = 200

  /// The toasts, newest last.
  package private(set) var shown: [Toast] = []
  /// Earlier toasts too, newest last.
  package private(set) var kept: [Toast] = []
  /// The number of messages so far, those that are not kept any more included.
  package private(set) var count = 0

  package init() {}

  package mutating func tell(_ toast: Toast) {
    shown = (shown + [toast]).suffix(Self.mostShown)
    kept = (kept + [toast]).suffix(Self.mostKept)
    count += 1
  }

  /// Takes the toasts off the screen; the list keeps them.
  package mutating func dismiss() { shown = [] }

  /// Lets old toasts go.
  package mutating func age(to now: Timestamp) { shown.removeAll { $0.expiry <= now } }

  /// Shows other toasts, which the list does not get.
  package mutating func show(_ toasts: [Toast]) { shown = toasts.suffix(Self.mostShown) }

  /// Puts the moments of what is shown elsewhere.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    for index in shown.indices { shown[index].shownAt = moved(shown[index].shownAt) }
  }
}
