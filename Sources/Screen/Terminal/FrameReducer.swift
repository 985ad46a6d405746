// SPDX-License-Identifier: Apache-2.0

/// Removes redundant output from frames. ncurses sets colors and margins again in each frame. It sets both colors of a
/// pair even if only one has changed. It also draws the blanks of a line that has just scrolled in, although that line
/// is empty.
///
/// The reducer tracks the terminal's state and the scrolled lines between frames. It sends colors and attributes only
/// before they are needed for drawing, and only if they change. Unknown sequences are sent unchanged, and the tracked
/// state then counts as unknown. `finish` restores the terminal's defaults.
struct FrameReducer {
  /// The capabilities in the terminal's description.
  struct Abilities {
    /// Whether erasing and scrolling fill cells with the current background (bce).
    var keepsBackground = true
    /// Whether single attributes can be unset.
    var unsetsAttributes = true
    /// Whether the cursor can move to a column of its row, and remains in the row after the last column is drawn (hpa,
    /// xenl).
    var movesInRow = false
  }

  /// The first and the last line of the scrolling region, counted from 1.
  private struct Margins: Equatable {
    var top: Int
    var bottom: Int
  }

  /// A line that has just scrolled in. It was drawn on only from its left end.
  private struct FreshLine {
    var row: Int
    var background: Rendition
  }

  private let abilities: Abilities
  /// The terminal's line count.
  var height: Int {
    didSet { forget() }
  }

  private var output: [UInt8] = []
  /// The terminal's rendition now, and its rendition when the cursor was saved; `nil` if unknown.
  private var shown: Rendition?
  private var saved: Rendition?
  private var wanted = Rendition()
  /// Whether `wanted` is also unknown until everything is reset.
  private var isOpaque = false
  /// The terminal's scrolling region, and the region that ncurses set last; `nil` if unknown.
  private var margins: Margins?
  private var wantedMargins: Margins?
  /// Whether the terminal already has the wanted rendition, even for drawing glyphs.
  private var isSettled = false
  /// Whether letters are drawn as the symbols of the alternate character set.
  private var isShifted = true
  private var freshLines: [FreshLine] = []
  /// The row of the cursor; `nil` if unknown.
  private var row: Int?
  /// The fresh line that contains the cursor.
  private var line: FreshLine?

  init(height: Int, abilities: Abilities = Abilities()) {
    self.height = height
    self.abilities = abilities
  }

  /// Marks the terminal's state as unknown.
  mutating func forget() { self = FrameReducer(keeping: self) }

  private init(keeping other: FrameReducer) {
    (height, abilities, wanted, isOpaque) = (other.height, other.abilities, other.wanted, other.isOpaque)
  }

  /// Returns the bytes that restore the rendition and margins that other programs expect.
  mutating func finish() -> [UInt8] {
    (wanted, isOpaque) = (Rendition(), false)
    forget()
    return Array("\u{1B}7\u{1B}[r\u{1B}8\u{1B}[m".utf8)
  }

  mutating func reduced(_ frame: [UInt8]) -> [UInt8] {
    output = []
    output.reserveCapacity(frame.count)
    (freshLines, line, row) = ([], nil, nil)
    var rest = frame[...]
    while let byte = rest.first {
      switch byte {
      case 0x1B: rest = rest.dropFirst(escape(rest))
      case UInt8(ascii: " "):
        let count = rest.prefix { $0 == byte }.count
        blanks(count)
        rest = rest.dropFirst(count)
      case 0x20...:
        draw()
        output.append(byte)
        rest = rest.dropFirst()
      default:
        control(byte)
        rest = rest.dropFirst()
      }
    }
    return output
  }

  private mutating func control(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\n"):
      row = nil
      useMargins()
      settle(.blank)
      output.append(byte)
      scrolled(by: 1)
    case 0x0E, 0x0F:
      if byte == 0x0E || isShifted { output.append(byte) }
      isShifted = byte == 0x0E
    default:
      line = nil
      output.append(byte)
    }
  }

  private mutating func draw() {
    if line == nil { freshLines = [] }
    if !isSettled { settle(.glyph) }
    isSettled = true
  }

  /// Draws blanks, or moves the cursor over blanks that the line already shows.
  private mutating func blanks(_ count: Int) {
    let step = Array("\u{1B}[\(count)C".utf8)
    if isBlankAhead, step.count < count {
      output += step
    } else {
      if line == nil { freshLines = [] }
      // A sequence that must be sent anyway also sets the rendition of the word after the blanks.
      let isPlain = shown.map { wanted.needed(for: .blank, after: $0) == $0 } ?? false
      settle(isPlain ? .blank : .glyph)
      output += repeatElement(UInt8(ascii: " "), count: count)
    }
  }

  /// Sets the rendition for erasing.
  private mutating func erase() {
    if line == nil { freshLines = [] }
    settle(.blank)
  }

  /// Whether the rest of the line already looks like the blanks to draw.
  private var isBlankAhead: Bool {
    guard let line, !isOpaque, wanted.isPlainOnBlanks else { return false }
    return wanted.needed(for: .blank, after: line.background) == line.background
  }

  /// - Returns: the count of consumed bytes.
  private mutating func escape(_ rest: ArraySlice<UInt8>) -> Int {
    let start = rest.startIndex
    guard rest.count > 1 else { return pass(rest) }
    switch rest[start + 1] {
    case UInt8(ascii: "["):
      guard let end = rest.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else { return opaque(rest) }
      return sequence(rest[start...end], parameters: rest[start + 2..<end])
    case UInt8(ascii: "("):
      guard rest.count > 2 else { return opaque(rest) }
      let isPlain = rest[start + 2] == UInt8(ascii: "B")
      if !isPlain || isShifted { output += rest.prefix(3) }
      isShifted = !isPlain
      return 3
    case UInt8(ascii: "7"):
      if let count = idleMargins(rest) { return count }
      saved = shown
      output += rest.prefix(2)
      return 2
    case UInt8(ascii: "8"):
      (shown, line, row, isSettled) = (saved, nil, nil, false)
      output += rest.prefix(2)
      return 2
    case UInt8(ascii: "M"), UInt8(ascii: "D"):
      useMargins()
      settle(.blank)
      (line, freshLines, row) = (nil, [], nil)
      output += rest.prefix(2)
      return 2
    case UInt8(ascii: "="), UInt8(ascii: ">"):
      output += rest.prefix(2)
      return 2
    default: return opaque(rest.prefix(2))
    }
  }

  /// - Returns: the count of consumed bytes.
  private mutating func sequence(_ sequence: ArraySlice<UInt8>, parameters: ArraySlice<UInt8>) -> Int {
    switch sequence.last {
    case UInt8(ascii: "m"): render(parameters, sequence)
    case UInt8(ascii: "r"): setMargins(parameters, sequence)
    case UInt8(ascii: "H"): move(parameters, sequence)
    case UInt8(ascii: "C"): output += sequence
    case UInt8(ascii: "G"), UInt8(ascii: "D"):
      line = nil
      output += sequence
    case UInt8(ascii: "d"):
      (line, row) = (nil, Self.numbers(parameters).first)
      output += sequence
    case UInt8(ascii: "A"), UInt8(ascii: "B"):
      // Margins stop the cursor.
      useMargins()
      (line, row) = (nil, nil)
      output += sequence
    case UInt8(ascii: "K") where parameters.isEmpty && isBlankAhead: break
    case UInt8(ascii: "X") where isBlankAhead: break
    case UInt8(ascii: "K"), UInt8(ascii: "X"):
      erase()
      output += sequence
    case UInt8(ascii: "S"):
      row = nil
      useMargins()
      settle(.blank)
      output += sequence
      scrolled(by: max(1, Self.numbers(parameters).first ?? 1))
    case UInt8(ascii: "J"), UInt8(ascii: "L"), UInt8(ascii: "M"), UInt8(ascii: "T"):
      useMargins()
      settle(.blank)
      (line, freshLines, row) = (nil, [], nil)
      output += sequence
    case UInt8(ascii: "P"), UInt8(ascii: "@"):
      erase()
      line = nil
      output += sequence
    case UInt8(ascii: "h"), UInt8(ascii: "l"), UInt8(ascii: "t"):
      (line, row) = (nil, nil)
      output += sequence
    default: return opaque(sequence)
    }
    return sequence.count
  }

  private mutating func render(_ parameters: ArraySlice<UInt8>, _ sequence: ArraySlice<UInt8>) {
    isSettled = false
    if isOpaque, parameters.isEmpty || parameters.first == UInt8(ascii: "0") {
      (isOpaque, wanted, shown) = (false, Rendition(), nil)
    }
    guard isOpaque || !wanted.apply(parameters) else { return }
    settle(.glyph)
    isOpaque = true
    output += sequence
  }

  private mutating func setMargins(_ parameters: ArraySlice<UInt8>, _ sequence: ArraySlice<UInt8>) {
    let numbers = Self.numbers(parameters)
    let next = Margins(top: max(1, numbers.first ?? 1), bottom: numbers.count > 1 ? numbers[1] : height)
    let all = Margins(top: 1, bottom: height)
    (line, row) = (nil, nil)
    wantedMargins = next
    // A whole-screen region is set only when needed. After setting margins, ncurses moves the cursor to an absolute
    // place.
    guard next != margins, next != all || margins == nil else { return }
    margins = next
    output += next == all ? Array("\u{1B}[r".utf8) : Array(sequence)
  }

  /// Skips a sequence that saves the cursor, sets margins and restores the cursor, if the terminal already has these
  /// margins.
  ///
  /// - Returns: the count of consumed bytes; `nil` for any other sequence.
  private mutating func idleMargins(_ rest: ArraySlice<UInt8>) -> Int? {
    guard rest.count > 4, rest.dropFirst(2).starts(with: "\u{1B}[".utf8),
      let end = rest.dropFirst(4).firstIndex(where: { (0x40...0x7E).contains($0) }), rest[end] == UInt8(ascii: "r"),
      rest[(end + 1)...].starts(with: "\u{1B}8".utf8)
    else { return nil }
    let numbers = Self.numbers(rest[rest.startIndex + 4..<end])
    guard numbers.count == 2, margins == Margins(top: numbers[0], bottom: numbers[1]) else { return nil }
    wantedMargins = margins
    return end + 3 - rest.startIndex
  }

  private mutating func move(_ parameters: ArraySlice<UInt8>, _ sequence: ArraySlice<UInt8>) {
    let numbers = Self.numbers(parameters)
    let (row, column) = (max(1, numbers.first ?? 1), max(1, numbers.count > 1 ? numbers[1] : 1))
    line = freshLines.first { $0.row == row }
    freshLines.removeAll { $0.row == row }
    let isHere = abilities.movesInRow && row == self.row
    self.row = row
    let place = column > 1 ? "\(row);\(column)" : row > 1 ? "\(row)" : ""
    output += Array((!isHere ? "\u{1B}[\(place)H" : column > 1 ? "\u{1B}[\(column)G" : "\r").utf8)
  }

  /// Records the lines that scrolled in at the bottom of the margins.
  private mutating func scrolled(by count: Int) {
    line = nil
    guard let margins, margins != Margins(top: 1, bottom: height), let shown else {
      freshLines = []
      return
    }
    let background = abilities.keepsBackground ? shown : Rendition()
    let earlier = freshLines.map { FreshLine(row: $0.row - count, background: $0.background) }
    let latest = (margins.bottom - count + 1...margins.bottom).map { FreshLine(row: $0, background: background) }
    freshLines = (earlier + latest).filter { $0.row >= margins.top }
  }

  /// Sets the wanted margins before a sequence whose effect depends on them.
  private mutating func useMargins() {
    guard let wanted = wantedMargins ?? (margins == nil ? Margins(top: 1, bottom: height) : nil), wanted != margins
    else { return }
    (margins, wantedMargins) = (wanted, wanted)
    output += Array("\u{1B}7\u{1B}[\(wanted.top);\(wanted.bottom)r\u{1B}8".utf8)
  }

  /// Sets the parts of the wanted rendition that the next output makes visible.
  private mutating func settle(_ use: Rendition.Use) {
    guard !isOpaque else { return }
    let next = shown.map { wanted.needed(for: use, after: $0) } ?? wanted
    output += next.sequence(after: shown, unsets: abilities.unsetsAttributes)
    shown = next
  }

  private mutating func pass(_ bytes: ArraySlice<UInt8>) -> Int {
    output += bytes
    return bytes.count
  }

  /// Sends an unknown sequence unchanged. The terminal's state is unknown after it.
  private mutating func opaque(_ bytes: ArraySlice<UInt8>) -> Int {
    useMargins()
    (shown, saved, margins, line, row, freshLines) = (nil, nil, nil, nil, nil, [])
    (isShifted, isSettled) = (true, false)
    return pass(bytes)
  }

  private static func numbers(_ parameters: ArraySlice<UInt8>) -> [Int] {
    parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
      .map { Int(String(decoding: $0, as: UTF8.self)) ?? 0 }
  }
}
