// SPDX-License-Identifier: Apache-2.0

/// The private modes that ncurses does not manage (xterm control sequences, "DEC Private Mode Set").
enum ModeStrings {
  /// Presses and drags, with coordinates that have no limit.
  static let mouseOn = "\u{1B}[?1000;1002;1006h"
  static let mouseOff = "\u{1B}[?1006;1002;1000l"
  /// Pastes arrive in brackets; focus changes are reported.
  static let reportsOn = "\u{1B}[?2004;1004h"
  static let reportsOff = "\u{1B}[?2004;1004l"
  /// Between these two a terminal shows nothing, then everything at once; terminals that do not know it ignore it.
  static let frameBegins = Array("\u{1B}[?2026h".utf8)
  static let frameEnds = Array("\u{1B}[?2026l".utf8)

  /// What brings any terminal back without knowing which it is. The frame ends first: a frozen screen shows nothing
  /// else.
  static let restore =
    "\u{1B}[?2026l" + mouseOff + reportsOff + "\u{1B}[m\u{1B}[?25h\u{1B}[?1049l\u{1B}[?1l\u{1B}>"
}
