// SPDX-License-Identifier: Apache-2.0
import CNcurses
import TerminalCanvas
import TerminalTheme

/// A style in the attributes and colour pairs of ncurses.
struct PaintedStyle {
  var attributes: attr_t
  var pair: CInt
  private var background: ScreenColor?

  init(attributes: attr_t, pair: CInt) {
    self.attributes = attributes
    self.pair = pair
  }

  /// Whether a blank looks the same in both styles: both show only the same background.
  func hasSameBlank(as other: PaintedStyle) -> Bool {
    attributes == 0 && other.attributes == 0 && background != nil && background == other.background
  }

  /// Takes a colour pair from ncurses for the two colours, unless the terminal has none.
  ///
  /// Colours are never redefined: that would change the user's palette, also after the program ended.
  ///
  /// - Parameter base: the style of the screen. Text in the screen's own background on another colour is drawn inverse,
  ///   where bold letters keep their colour: one colour less to set before it and after it.
  init(_ style: ResolvedStyle, on base: ResolvedStyle, depth: ColorDepth) {
    let isInverse =
      depth >= .c256 && style.foreground == base.background && style.background != base.background
      && !style.attributes.contains(.reverse)
    attributes = Self.attributes(style.attributes) | (isInverse ? cn_reverse : 0)
    background = isInverse ? base.background : style.background
    let foreground = isInverse ? style.background : style.foreground
    pair = depth == .mono ? 0 : max(0, alloc_pair(Self.number(foreground), Self.number(background ?? .terminal)))
  }

  static func attributes(_ attributes: Attributes) -> attr_t {
    if attributes.isEmpty { return 0 }
    var bits: attr_t = 0
    if attributes.contains(.bold) { bits |= cn_bold }
    if attributes.contains(.dim) { bits |= cn_dim }
    if attributes.contains(.underline) { bits |= cn_underline }
    if attributes.contains(.reverse) { bits |= cn_reverse }
    if attributes.contains(.italic) { bits |= cn_italic }
    return bits
  }

  /// The number of a colour in ncurses. On direct-colour terminals 1 to 7 still mean the palette, so that the nearest
  /// colour beyond them is taken instead.
  private static func number(_ color: ScreenColor) -> CInt {
    switch color {
    case .terminal: -1
    case .index(let index): CInt(index)
    case .rgb(let rgb): (1...7).contains(rgb.value) ? 8 : CInt(rgb.value)
    }
  }
}

/// The private modes that ncurses does not manage (xterm control sequences, "DEC Private Mode Set").
enum ModeStrings {
  /// Reports presses and drags, with coordinates that have no limit.
  static let mouseOn = "\u{1B}[?1000;1002;1006h"
  static let mouseOff = "\u{1B}[?1006;1002;1000l"
  /// Reports pastes in brackets, and changes of the focus.
  static let reportsOn = "\u{1B}[?2004;1004h"
  static let reportsOff = "\u{1B}[?2004;1004l"
  /// Brackets around a frame, which the terminal shows all at once at its end; terminals that do not know them ignore
  /// them.
  static let frameBegins = Array("\u{1B}[?2026h".utf8)
  static let frameEnds = Array("\u{1B}[?2026l".utf8)
  /// A query that the terminal answers with `CSI 0 n` when everything before it was drawn.
  static let asksWhetherDrawn = Array("\u{1B}[5n".utf8)

  /// The sequence that restores any terminal, whichever it is. The frame ends first, because a frozen screen would not
  /// show the rest.
  static let restore =
    "\u{1B}[?2026l" + mouseOff + reportsOff + "\u{1B}7\u{1B}[r\u{1B}8\u{1B}[m\u{1B}[?25h\u{1B}[?1049l\u{1B}[?1l\u{1B}>"
}
