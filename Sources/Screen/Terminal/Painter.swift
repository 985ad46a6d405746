// SPDX-License-Identifier: Apache-2.0
import CNcurses
import Glibc
package import TerminalCanvas
package import TerminalTheme

/// Computes the bytes that change a terminal from one canvas to the next, with ncurses.
///
/// ncurses writes to a file in memory, never to a terminal. Therefore a frame can be measured, sent with one `write`,
/// and tested without a terminal. Only one painter can exist at a time, because ncurses keeps its state in globals.
@MainActor package final class Painter {
  private var handle: OpaquePointer?
  private let output: UnsafeMutablePointer<FILE>
  private let input: UnsafeMutablePointer<FILE>
  /// The file in memory. Its offset and length enclose the bytes that ncurses has written since the last read.
  private let memory: CInt
  private var styles: [Role: PaintedStyle] = [:]
  private var previous: Canvas?
  private var isCursorVisible = true
  /// Whether links of canvases are sent as terminal links.
  package var showsLinks = false
  private var theme: Theme
  private var reducer: FrameReducer
  package private(set) var size: Size
  package let depth: ColorDepth

  /// The terminal whose description is used because this machine lacks the right description; `nil` if the machine has
  /// it.
  package private(set) var replacement: String?

  /// Loads the description of a terminal.
  ///
  /// - Throws: `unknownTerminal`, `unusableTerminal` (no cursor movement) or `system`.
  package init(
    terminal: String, size: Size, theme: Theme, environment: [String: String], wish: ColorDepth?
  ) throws(TerminalError) {
    memory = cn_memory_file()
    guard memory >= 0, let output = fdopen(memory, "w"), let input = fopen("/dev/null", "r") else {
      throw TerminalError(.system, "cannot create the file in memory that frames are drawn into (errno \(errno))")
    }
    self.output = output
    self.input = input
    self.size = size
    self.theme = theme
    reducer = FrameReducer(height: size.height)
    // Descriptions such as linux have no size. This lets ncurses fall back to 24×80, which resizeterm replaces below.
    use_env(true)
    let triesDirect = TerminalCapabilities.triesDirectColor(environment: environment, wish: wish)
    func opened(as name: String) -> OpaquePointer? {
      let direct = triesDirect ? DirectColorDescription(terminal: name, environment: environment) : nil
      return direct.flatMap { Self.open(name, description: $0, output, input) } ?? newterm(name, output, input)
    }
    var found = opened(as: terminal)
    if found == nil, let relative = TerminalCapabilities.relative(of: terminal) {
      found = opened(as: relative)
      replacement = found == nil ? nil : relative
    }
    guard let handle = found else {
      fclose(output)
      fclose(input)
      throw TerminalError(
        .unknownTerminal,
        "no description of the terminal \"\(terminal)\": set TERM to a known one such as xterm-256color (TERM=xterm-256color hearth)"
      )
    }
    self.handle = handle
    guard cn_has_string("cup"), cn_has_string("clear") else {
      endwin()
      delscreen(handle)
      self.handle = nil
      fclose(output)
      fclose(input)
      throw TerminalError(
        .unusableTerminal, "the terminal \"\(terminal)\" cannot move its cursor: try TERM=xterm-256color")
    }
    cn_keep_palette()
    reducer = FrameReducer(
      height: size.height,
      abilities: .init(
        keepsBackground: tigetflag("bce") > 0, unsetsAttributes: tigetnum("colors") > 0,
        movesInRow: cn_string_is("hpa", "\u{1B}[%i%p1%dG") && tigetflag("xenl") > 0))
    let wanted = TerminalCapabilities.depth(
      colors: Int(tigetnum("colors")), environment: environment, wish: wish)
    depth = wanted != .mono && start_color() == OK && use_default_colors() == OK ? wanted : .mono
    nonl()
    leaveok(cn_window(), true)
    // Typeahead checks would stop ncurses in the middle of a frame when input waits.
    typeahead(-1)
    resizeterm(CInt(size.height), CInt(size.width))
    setTheme(theme)
    // The output so far is for 24 lines, including the scrolling region. Entering again with the right size replaces
    // it.
    _ = leave()
  }

  /// Opens a terminal with a description that is in the environment only during this call, because child programs must
  /// not inherit it.
  private static func open(
    _ terminal: String, description: DirectColorDescription, _ output: UnsafeMutablePointer<FILE>,
    _ input: UnsafeMutablePointer<FILE>
  ) -> OpaquePointer? {
    let saved = getenv("TERMINFO").map { String(cString: $0) }
    setenv("TERMINFO", description.environmentValue, 1)
    defer {
      if let saved { setenv("TERMINFO", saved, 1) } else { unsetenv("TERMINFO") }
    }
    return newterm(terminal, output, input)
  }

  /// Frees the resources of ncurses. Call `leave()` first and send its bytes.
  package func close() {
    guard let handle else { return }
    delscreen(handle)
    self.handle = nil
    fclose(output)
    fclose(input)
  }

  /// The bytes that change the previous canvas to this canvas; empty if both are equal. Cells outside the canvas are
  /// blank.
  package func frame(_ canvas: Canvas) -> [UInt8] {
    guard handle != nil, canvas != previous else { return [] }
    paint(canvas)
    wnoutrefresh(cn_window())
    doupdate()
    var bytes = reducer.reduced(takeBytes())
    if showsLinks {
      bytes += LinkPainter.bytes(from: previous, to: canvas) { [theme, depth] in theme.resolved($0, at: depth) }
    }
    previous = canvas
    return bytes
  }

  /// Makes the next frame repaint everything.
  package func invalidate() {
    previous = nil
    reducer.forget()
    cn_invalidate()
  }

  package func resize(to size: Size) {
    guard handle != nil, size.width > 0, size.height > 0 else { return }
    self.size = size
    resizeterm(CInt(size.height), CInt(size.width))
    reducer.height = size.height
    invalidate()
  }

  /// Sets the theme of the next frame. Only cells whose appearance changes are sent.
  package func setTheme(_ theme: Theme) {
    self.theme = theme
    let base = theme.resolved(.text, at: depth)
    styles = Dictionary(
      uniqueKeysWithValues: Role.allCases.map { role in
        (role, PaintedStyle(theme.resolved(role, at: depth), on: base, depth: depth))
      })
    let blank = style(.text)
    cn_set_background(blank.attributes, blank.pair)
    previous = nil
  }

  /// The bytes that restore the main screen and the cursor. The next frame enters the alternate screen again and
  /// repaints everything.
  package func leave() -> [UInt8] {
    guard handle != nil else { return [] }
    let end = reducer.finish()
    endwin()
    invalidate()
    // Entering again makes the cursor visible.
    isCursorVisible = true
    return end + takeBytes()
  }

  private func paint(_ canvas: Canvas) {
    if !isCursorVisible || previous == nil { setCursor(canvas.cursor) }
    for y in 0..<size.height where previous == nil || previous?.row(y) != canvas.row(y) {
      var last: (role: Role, style: PaintedStyle) = (.text, style(.text))
      let row = canvas.row(y)
      for x in 0..<size.width {
        let cell = x < row.count ? row[row.startIndex + x] : .blank
        if let style = gapStyle(at: x, in: row, after: x == 0 ? nil : last.style) {
          put(cell, x, y, style)
          continue
        }
        if cell.role != last.role { last = (cell.role, style(cell.role)) }
        put(cell, x, y, last.style)
      }
    }
    setCursor(canvas.cursor)
  }

  /// The best style for a blank before a word. Only the background of a blank is visible, so another style with the
  /// same background can save a color change. This is the style of the previous word, or at the start of a line the
  /// style of the following word. Blanks at the end of a line keep their style, because ncurses erases them together.
  private func gapStyle(at x: Int, in row: ArraySlice<Cell>, after style: PaintedStyle?) -> PaintedStyle? {
    func cell(_ x: Int) -> Cell? { x < row.count ? row[row.startIndex + x] : nil }
    guard let blank = cell(x), blank.isPlainBlank, let own = styles[blank.role],
      let word = (x + 1..<x + 1 + Self.longestGap).lazy.compactMap({ cell($0) }).first(where: { !$0.isPlainBlank })
    else { return nil }
    guard word.role != blank.role else { return nil }
    let isLeading = (0..<x).allSatisfy { cell($0)?.isPlainBlank == true }
    guard let candidate = isLeading ? styles[word.role] : style, candidate.hasSameBlank(as: own) else { return nil }
    return candidate
  }

  private static let longestGap = 16

  private func put(_ cell: Cell, _ x: Int, _ y: Int, _ style: PaintedStyle) {
    let attributes = style.attributes | PaintedStyle.attributes(cell.attributes)
    let (base, mark1, mark2) = cell.cluster.codes
    if base < 0x80, mark1 == 0 {
      // 0 is the right half of a wide cluster, already drawn with its left half.
      if base != 0 { cn_put(CInt(y), CInt(x), base, 0, 0, attributes, style.pair) }
      return
    }
    let width = cell.width
    if wcwidth(wchar_t(base)) == width, Self.isMark(mark1), Self.isMark(mark2), x + width <= size.width {
      cn_put(CInt(y), CInt(x), base, mark1, mark2, attributes, style.pair)
    } else {
      // The C library and this program disagree about the width; ncurses would misplace the rest of the line.
      for column in x..<min(x + width, size.width) {
        cn_put(CInt(y), CInt(column), 0x3F, 0, 0, attributes, style.pair)
      }
    }
  }

  private static func isMark(_ code: UInt32) -> Bool { code == 0 || wcwidth(wchar_t(code)) == 0 }

  private func style(_ role: Role) -> PaintedStyle { styles[role] ?? PaintedStyle(attributes: 0, pair: 0) }

  private func setCursor(_ point: Point?) {
    guard let point, Rect(size: size).contains(point) else { return hideCursor() }
    leaveok(cn_window(), false)
    wmove(cn_window(), CInt(point.y), CInt(point.x))
    if !isCursorVisible { curs_set(1) }
    isCursorVisible = true
  }

  private func hideCursor() {
    leaveok(cn_window(), true)
    if isCursorVisible { curs_set(0) }
    isCursorVisible = false
  }

  private func takeBytes() -> [UInt8] {
    let count = Int(lseek(memory, 0, SEEK_CUR))
    guard count > 0 else { return [] }
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = max(0, pread(memory, buffer.baseAddress, count, 0))
    }
    ftruncate(memory, 0)
    lseek(memory, 0, SEEK_SET)
    return bytes
  }
}

extension Cell {
  fileprivate var isPlainBlank: Bool { cluster == .space && attributes.isEmpty }
}

/// A style as attributes and color pairs of ncurses.
struct PaintedStyle {
  var attributes: attr_t
  var pair: CInt
  private var background: ScreenColor?

  init(attributes: attr_t, pair: CInt) {
    self.attributes = attributes
    self.pair = pair
  }

  /// Whether a blank looks the same in both styles, because both have the same background and nothing else is visible.
  func hasSameBlank(as other: PaintedStyle) -> Bool {
    attributes == 0 && other.attributes == 0 && background != nil && background == other.background
  }

  /// Allocates an ncurses color pair for the two colors, unless the terminal has no colors.
  ///
  /// Colors are never redefined, because that would change the user's palette beyond the end of the program.
  ///
  /// - Parameter base: the style of the screen. Text in the screen's background color on another color is drawn
  ///   inverse, if bold letters keep their color then. This saves a color change before and after the text.
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

  /// The number of a color in ncurses. On direct-color terminals, the numbers 1 to 7 still mean palette colors, so the
  /// nearest larger number is used for these colors.
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
  /// Reports presses and drags, with unlimited coordinates.
  static let mouseOn = "\u{1B}[?1000;1002;1006h"
  static let mouseOff = "\u{1B}[?1006;1002;1000l"
  /// Reports pastes in brackets, and changes of the focus.
  static let reportsOn = "\u{1B}[?2004;1004h"
  static let reportsOff = "\u{1B}[?2004;1004l"
  /// The sequences at the start and the end of a frame. A terminal that supports them shows the whole frame at its end.
  /// Other terminals ignore them.
  static let frameBegins = Array("\u{1B}[?2026h".utf8)
  static let frameEnds = Array("\u{1B}[?2026l".utf8)
  /// A query to which the terminal replies `CSI 0 n` when it has drawn everything before the query.
  static let asksWhetherDrawn = Array("\u{1B}[5n".utf8)

  /// The sequence that restores any terminal. It first ends the current frame, because the terminal would otherwise not
  /// show the rest.
  static let restore =
    "\u{1B}[?2026l" + mouseOff + reportsOff + "\u{1B}7\u{1B}[r\u{1B}8\u{1B}[m\u{1B}[?25h\u{1B}[?1049l\u{1B}[?1l\u{1B}>"
}

/// Draws the links of a canvas over its text (OSC 8). ncurses does not support links, so the text of a link is drawn a
/// second time after ncurses. Cursor and colors are saved before and restored afterwards.
struct LinkPainter {
  /// The bytes for new and removed links, and for links whose text was redrawn.
  ///
  /// - Parameter previous: the canvas on the terminal; `nil` if unknown.
  static func bytes(
    from previous: Canvas?, to canvas: Canvas, _ style: (Role) -> ResolvedStyle
  ) -> [UInt8] {
    let old = previous?.links ?? []
    guard !canvas.links.isEmpty || !old.isEmpty else { return [] }
    func isDrawn(_ link: CanvasLink) -> Bool {
      guard let previous else { return false }
      return previous.row(link.y).dropFirst(link.columns.lowerBound).prefix(link.columns.count)
        .elementsEqual(canvas.row(link.y).dropFirst(link.columns.lowerBound).prefix(link.columns.count))
    }
    // Unchanged text is still a link, unless it is redrawn without one.
    let gone = old.filter { !canvas.links.contains($0) && isDrawn($0) }
    let new = canvas.links.filter { !old.contains($0) || !isDrawn($0) }
    guard !gone.isEmpty || !new.isEmpty else { return [] }
    var text = "\u{1B}7"
    for link in gone { text += Self.text(of: link, address: "", canvas, style) }
    for link in new { text += Self.text(of: link, address: link.address, canvas, style) }
    return Array((text + "\u{1B}8").utf8)
  }

  private static func text(
    of link: CanvasLink, address: String, _ canvas: Canvas, _ style: (Role) -> ResolvedStyle
  ) -> String {
    var text = "\u{1B}[\(link.y + 1);\(link.columns.lowerBound + 1)H\u{1B}]8;;\(address)\u{1B}\\"
    var shown: String?
    for x in link.columns {
      let cell = canvas[x, link.y]
      guard cell.width > 0 else { continue }
      var look = style(cell.role)
      look.attributes.formUnion(cell.attributes)
      let parameters = look.sgrParameters
      if parameters != shown { text += "\u{1B}[\(parameters)m" }
      shown = parameters
      text += cell.text
    }
    return text + "\u{1B}]8;;\u{1B}\\"
  }
}
