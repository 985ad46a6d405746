// SPDX-License-Identifier: Apache-2.0

/// Text of any origin, split into clusters. Each cluster has a known width. No cluster can move the cursor, or reorder
/// or hide text.
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

  /// The visible text. Plain ASCII text is returned unchanged.
  package static func sanitized(_ text: String) -> String {
    if isPlain(text) { return text }
    var view = String.UnicodeScalarView()
    for cluster in SafeText(text) { view.append(contentsOf: cluster.scalars) }
    return String(view)
  }

  /// The width of the visible text in columns.
  package static func columns(of text: String) -> Int {
    if isPlain(text) { return text.utf8.count }
    return SafeText(text).reduce(0) { $0 + $1.width }
  }

  /// The visible text, shortened to at most `columns` columns. `ellipsis` replaces the cut text if it fits.
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

  /// Whether a scalar must not be sent to a terminal, because it is a control or is invisible and can hide or reorder
  /// text.
  package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool { CharacterWidth(scalar) == .unsafe }

  /// Whether every byte is a printable ASCII character. Such text needs no sanitizing, and its width is its length.
  static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 &- 0x20 < 0x5F } }
}

extension SafeText {
  /// Returns clusters from left to right and reads only as far ahead as needed. So the cost of drawing a long text
  /// depends only on its visible part.
  package struct Iterator: IteratorProtocol {
    private var scalars: String.UnicodeScalarView.Iterator
    private var lookahead: Unicode.Scalar?
    /// The next clusters in reverse order. They contain at most one code point that is spelled out.
    private var pending: [Cluster] = []

    init(_ source: String) {
      scalars = source.unicodeScalars.makeIterator()
      lookahead = scalars.next()
    }

    package mutating func next() -> Cluster? {
      while true {
        if let cluster = pending.popLast() { return cluster }
        guard let scalar = take() else { return nil }
        if let cluster = cluster(startingWith: scalar) { return cluster }
      }
    }

    /// Reads one cluster. Returns `nil` if the scalar is dropped or was spelled out into `pending`.
    private mutating func cluster(startingWith scalar: Unicode.Scalar) -> Cluster? {
      let value = scalar.value
      switch CharacterWidth(scalar) {
      case _ where value == 0xFE0E || value == 0xFE0F:
        return nil
      case .narrow where (0x1F1E6...0x1F1FF).contains(value):
        return Cluster(ascii: UInt8(value - 0x1F1E6) + 0x41)
      case .narrow:
        return completed(Cluster(base: scalar, isWide: false), base: scalar)
      case .wide:
        return completed(Cluster(base: scalar, isWide: true), base: scalar)
      case .combining:
        return completed(Cluster(base: "◌", isWide: false).adding(mark: scalar), base: "◌")
      case .unknown:
        return Cluster(base: "▯", isWide: false)
      case .unsafe:
        spell(scalar)
        return nil
      }
    }

    /// Adds the combining marks that follow, and merges everything that a terminal would draw over the same emoji.
    private mutating func completed(_ start: Cluster, base: Unicode.Scalar) -> Cluster {
      var cluster = start
      let isPictograph = base.value >= 0xA9 && base.properties.isEmoji
      while let scalar = lookahead, scalar.value >= 0x0300 {
        switch scalar.value {
        case 0xFE0E, 0xFE0F:
          _ = take()
        case 0x1F3FB...0x1F3FF where isPictograph:
          _ = take()
        case 0x200D where isPictograph:
          skipJoined()
          pending = [Cluster(ascii: 0x2B)]
          return cluster
        default:
          guard CharacterWidth(scalar) == .combining else { return cluster }
          _ = take()
          cluster = cluster.adding(mark: scalar)
        }
      }
      return cluster
    }

    /// Drops the rest of a ZWJ sequence: each joiner, the following pictograph, and its modifiers.
    private mutating func skipJoined() {
      while lookahead?.value == 0x200D {
        _ = take()
        guard let joined = lookahead, joined.value >= 0xA9, joined.properties.isEmoji else { return }
        _ = take()
        while let scalar = lookahead,
          [0xFE0E, 0xFE0F].contains(scalar.value) || (0x1F3FB...0x1F3FF).contains(scalar.value)
        {
          _ = take()
        }
      }
    }

    private mutating func spell(_ scalar: Unicode.Scalar) {
      switch scalar.value {
      case 0x09: pending = [Cluster(ascii: 0x74), Cluster(ascii: 0x5C)]
      case 0x0A: pending = [Cluster(ascii: 0x6E), Cluster(ascii: 0x5C)]
      case 0x0D: pending = [Cluster(ascii: 0x72), Cluster(ascii: 0x5C)]
      case 0x7F: pending = [Cluster(base: "␡", isWide: false)]
      case let value where value < 0x20:
        pending = Unicode.Scalar(0x2400 + value).map { [Cluster(base: $0, isWide: false)] } ?? []
      case let value:
        let digits = String(value, radix: 16, uppercase: true)
        let spelled = "⟨U+" + String(repeating: "0", count: Swift.max(0, 4 - digits.count)) + digits + "⟩"
        pending = spelled.unicodeScalars.reversed().map { Cluster(base: $0, isWide: false) }
      }
    }

    private mutating func take() -> Unicode.Scalar? {
      let scalar = lookahead
      lookahead = scalars.next()
      return scalar
    }
  }
}
