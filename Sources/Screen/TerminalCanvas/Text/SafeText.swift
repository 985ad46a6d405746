// SPDX-License-Identifier: Apache-2.0

/// Text of any origin, cut into clusters that have a known width and cannot move the cursor, reorder or hide text.
///
/// | input | shown as |
/// |---|---|
/// | newline, tab, return | `\n` `\t` `\r` |
/// | other C0 controls, DEL | control pictures such as `␛` |
/// | C1, bidi controls, zero-width, format and tag characters, invisible fillers | `⟨U+202E⟩` |
/// | variation selectors 15 and 16, skin tones after an emoji | nothing |
/// | emoji joined with ZWJ | the first one and `+` |
/// | regional indicators | their letters |
/// | unassigned and private characters | `▯` |
/// | a combining mark without a base | the mark on `◌` |
package struct SafeText: Sequence, Sendable {
  private let source: String

  package init(_ source: String) { self.source = source }

  package func makeIterator() -> Iterator { Iterator(source) }

  /// The visible text; equal to the input when that is plain.
  package static func sanitized(_ text: String) -> String {
    if isPlain(text) { return text }
    var view = String.UnicodeScalarView()
    for cluster in SafeText(text) { view.append(contentsOf: cluster.scalars) }
    return String(view)
  }

  /// The columns that the visible text takes.
  package static func columns(of text: String) -> Int {
    if isPlain(text) { return text.utf8.count }
    return SafeText(text).reduce(0) { $0 + $1.width }
  }

  /// The visible text, shortened to at most `columns` columns; what was cut is replaced by `ellipsis` if that fits.
  package static func truncated(_ text: String, to columns: Int, ellipsis: String = "…") -> String {
    guard columns > 0 else { return "" }
    if isPlain(text), text.utf8.count <= columns { return text }
    let ellipsisColumns = self.columns(of: ellipsis)
    let room = ellipsisColumns <= columns ? columns - ellipsisColumns : columns
    var used = 0
    var kept = String.UnicodeScalarView()
    var head: String.UnicodeScalarView?
    for cluster in SafeText(text) {
      if used + cluster.width > room, head == nil { head = kept }
      guard used + cluster.width <= columns else {
        return String(head ?? kept) + (ellipsisColumns <= columns ? ellipsis : "")
      }
      kept.append(contentsOf: cluster.scalars)
      used += cluster.width
    }
    return String(kept)
  }

  /// Whether a scalar must not be sent to a terminal: a control, or one that draws nothing and may hide or reorder
  /// text.
  package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool { CharacterWidth(scalar) == .unsafe }

  /// Whether every byte is a printable ASCII character: such text needs no sanitising and its width is its length.
  static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 &- 0x20 < 0x5F } }
}
