// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A line that appears for a while above the footer.
package struct Toast: Hashable, Sendable {
  package enum Kind: Hashable, Sendable { case info, warning, error }

  package var kind: Kind
  package var text: String
  package var shownAt: Timestamp

  package init(_ kind: Kind, _ text: String, shownAt: Timestamp) {
    self.kind = kind
    self.text = text
    self.shownAt = shownAt
  }

  /// 2 s, errors and warnings 4 s: long enough to read a line, and lazygit's users agree.
  package var expiry: Timestamp { shownAt.advanced(seconds: kind == .info ? 2 : 4) }
}
