// SPDX-License-Identifier: Apache-2.0

package import TerminalCanvas

/// A terminal without a window: enough of ECMA-48 to replay what ncurses writes. What it does not know is recorded, so
/// that a test cannot pass by accident.
package struct TerminalModel {
  /// How a cell is drawn, in the terminal's own numbers.
  package struct Look: Hashable {
    package var foreground = "39"
    package var background = "49"
    package var attributes: Set<Int> = []

    /// What a blank shows of it.
    package var ofBlank: Look {
      Look(
        foreground: attributes.contains(7) ? foreground : "", background: background,
        attributes: attributes.intersection([4, 7]))
    }
  }

  package private(set) var unknown: [String] = []
  private let size: Size
  private var rows: [[String]]
  package private(set) var looks: [[Look]]
  private var look = Look()
  /// The cursor and its look as saved (DECSC).
  private var saved = (x: 0, y: 0, look: Look())
  private var x = 0
  private var y = 0
  /// The next character goes to the next line (the "eat newline glitch", xenl).
  private var wrapsNext = false
  private var top = 0
  private var bottom: Int
  private var last = ""
  /// Characters push the rest of the line to the right (IRM).
  private var inserts = false

  package init(size: Size) {
    self.size = size
    rows = Array(repeating: Array(repeating: " ", count: size.width), count: size.height)
    looks = Array(repeating: Array(repeating: Look(), count: size.width), count: size.height)
    bottom = size.height - 1
  }

  /// Each line as wide as the screen; anything not understood follows as further lines.
  package var text: [String] { rows.map { $0.joined() } + unknown }

  package mutating func interpret(_ bytes: [UInt8]) {
    var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
    while let scalar = scalars.popFirst() {
      switch scalar {
      case "\u{1B}": escape(&scalars)
      case "\r": moveTo(0, y)
      case "\n": lineFeed()
      case "\u{8}": moveTo(x - 1, y)
      case "\t": moveTo((x / 8 + 1) * 8, y)
      case "\u{0E}", "\u{0F}": break
      case _ where scalar.value < 0x20: unknown.append("control \(scalar.value)")
      default: show(scalar)
      }
    }
  }

  private mutating func show(_ scalar: Unicode.Scalar) {
    let width = SafeText.columns(of: "a\(scalar)") - 1
    if width == 0 {
      let column = wrapsNext ? x : x - 1
      let base = rows[y][column].isEmpty ? column - 1 : column
      rows[y][base].unicodeScalars.append(scalar)
      return
    }
    if wrapsNext || x + width > size.width {
      lineFeed()
      moveTo(0, y)
    }
    if inserts { shift(by: width) }
    for column in x..<x + width { split(column) }
    last = String(scalar)
    rows[y][x] = last
    looks[y][x] = look
    if width == 2 {
      rows[y][x + 1] = ""
      looks[y][x + 1] = look
    }
    let next = x + width
    x = min(next, size.width - 1)
    wrapsNext = next == size.width
  }

  /// Blanks both halves of a wide character, of which one is about to be overwritten.
  private mutating func split(_ column: Int) {
    guard column < size.width else { return }
    if rows[y][column].isEmpty { rows[y][column - 1] = " " }
    if column + 1 < size.width, rows[y][column + 1].isEmpty { rows[y][column + 1] = " " }
    rows[y][column] = " "
    looks[y][column] = erased
  }

  /// Erasing leaves the background (bce).
  private var erased: Look { Look(background: look.background) }

  private mutating func moveTo(_ column: Int, _ row: Int) {
    x = min(max(column, 0), size.width - 1)
    y = min(max(row, 0), size.height - 1)
    wrapsNext = false
  }

  private mutating func lineFeed() {
    wrapsNext = false
    if y == bottom { scroll(by: 1) } else { moveTo(x, y + 1) }
  }

  private mutating func scroll(by count: Int) {
    let blank = Array(repeating: " ", count: size.width)
    let blankLooks = Array(repeating: erased, count: size.width)
    for _ in 0..<min(abs(count), bottom - top + 1) {
      if count > 0 {
        rows.remove(at: top)
        rows.insert(blank, at: bottom)
        looks.remove(at: top)
        looks.insert(blankLooks, at: bottom)
      } else {
        rows.remove(at: bottom)
        rows.insert(blank, at: top)
        looks.remove(at: bottom)
        looks.insert(blankLooks, at: top)
      }
    }
  }

  private mutating func escape(_ scalars: inout ArraySlice<Unicode.Scalar>) {
    switch scalars.popFirst() {
    case "[": control(&scalars)
    case "(", ")": _ = scalars.popFirst()
    case "M": if y == top { scroll(by: -1) } else { moveTo(x, y - 1) }
    case "D": lineFeed()
    case "7": saved = (x, y, look)
    case "8":
      moveTo(saved.x, saved.y)
      look = saved.look
    case "=", ">": break
    case let other: unknown.append("ESC \(String(describing: other))")
    }
  }

  private mutating func control(_ scalars: inout ArraySlice<Unicode.Scalar>) {
    let parameters = String(String.UnicodeScalarView(scalars.prefix { !(0x40...0x7E).contains($0.value) }))
    scalars = scalars.dropFirst(parameters.unicodeScalars.count)
    let final = scalars.popFirst() ?? "?"
    let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    let count = max(1, numbers.first ?? 1)
    switch final {
    case "h" where parameters == "4": inserts = true
    case "l" where parameters == "4": inserts = false
    case "m": render(numbers.isEmpty ? [0] : numbers)
    case "h", "l", "t", "c": break
    case "H", "f": moveTo(max(1, numbers.count > 1 ? numbers[1] : 1) - 1, count - 1)
    case "A": moveTo(x, y < top ? y - count : max(top, y - count))
    case "B": moveTo(x, y > bottom ? y + count : min(bottom, y + count))
    case "C": moveTo(x + count, y)
    case "D": moveTo(x - count, y)
    case "G": moveTo(count - 1, y)
    case "d": moveTo(x, count - 1)
    case "J": erase(numbers.first ?? 0, from: y * size.width + x, to: size.width * size.height, start: 0)
    case "K": erase(numbers.first ?? 0, from: y * size.width + x, to: (y + 1) * size.width, start: y * size.width)
    case "X": blank((y * size.width + x)..<(y * size.width + min(x + count, size.width)))
    case "P": shift(by: -count)
    case "@": shift(by: count)
    case "L", "M": insertLines(final == "L" ? count : -count)
    case "S": scroll(by: count)
    case "T": scroll(by: -count)
    case "b": for _ in 0..<count { show(last.unicodeScalars.first ?? " ") }
    case "r":
      top = count - 1
      bottom = (numbers.count > 1 ? numbers[1] : size.height) - 1
      if bottom >= size.height || top > bottom { unknown.append("region \(parameters) on \(size.height) lines") }
      bottom = min(bottom, size.height - 1)
      moveTo(0, 0)
    default: unknown.append("CSI \(parameters)\(final)")
    }
  }

  private mutating func erase(_ mode: Int, from: Int, to end: Int, start: Int) {
    switch mode {
    case 0: blank(from..<end)
    case 1: blank(start..<from + 1)
    default: blank(start..<end)
    }
  }

  private mutating func blank(_ range: Range<Int>) {
    let saved = y
    for index in range {
      y = index / size.width
      split(index % size.width)
    }
    y = saved
  }

  private mutating func shift(by count: Int) {
    if rows[y][x].isEmpty || count < 0 { split(x) }
    let amount = min(abs(count), size.width - x)
    let blanks = Array(repeating: " ", count: amount)
    let blankLooks = Array(repeating: erased, count: amount)
    if count < 0 {
      rows[y].removeSubrange(x..<x + amount)
      rows[y].append(contentsOf: blanks)
      looks[y].removeSubrange(x..<x + amount)
      looks[y].append(contentsOf: blankLooks)
    } else {
      rows[y].insert(contentsOf: blanks, at: x)
      rows[y].removeLast(amount)
      looks[y].insert(contentsOf: blankLooks, at: x)
      looks[y].removeLast(amount)
    }
  }

  private mutating func insertLines(_ count: Int) {
    let oldTop = top
    top = y
    scroll(by: -count)
    top = oldTop
  }

  private mutating func render(_ numbers: [Int]) {
    var rest = numbers[...]
    while let number = rest.popFirst() {
      switch number {
      case 0: look = Look()
      case 1...9: look.attributes.insert(number)
      case 22: look.attributes.subtract([1, 2])
      case 23...29: look.attributes.remove(number - 20)
      case 30...37, 39, 90...97: look.foreground = "\(number)"
      case 40...47, 49, 100...107: look.background = "\(number)"
      case 38, 48:
        let count = rest.first == 2 ? 4 : 2
        let color = "\(number):" + rest.prefix(count).map(String.init).joined(separator: ":")
        rest = rest.dropFirst(count)
        if number == 38 { look.foreground = color } else { look.background = color }
      case 10, 11: break
      default: unknown.append("SGR \(number)")
      }
    }
  }
}
