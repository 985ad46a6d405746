// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

extension Canvas {
  /// The canvas as an SVG 1.1 picture with selectable text. Each run of cells is stretched to the width of its columns,
  /// so that columns are aligned in any font.
  package func svg(in theme: Theme, title: String) -> String {
    SVGPicture(canvas: self, theme: theme, title: title).text
  }
}

/// Writes one picture. Lengths are in SVG user units. A cell is 0.6 times as wide as the font size, as in most
/// monospaced fonts.
private struct SVGPicture {
  private static let fontSize = 14.0
  private static let cellWidth = 8.4
  private static let cellHeight = 17.0
  /// The distance from the top of a cell to the baseline of letters.
  private static let baseline = 13.0
  private static let margin = 8.0

  let canvas: Canvas
  let theme: Theme
  let title: String

  var text: String {
    let width = Double(canvas.size.width) * Self.cellWidth + 2 * Self.margin
    let height = Double(canvas.size.height) * Self.cellHeight + 2 * Self.margin
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(Self.number(width))\" height=\"\(Self.number(height))\""
        + " viewBox=\"0 0 \(Self.number(width)) \(Self.number(height))\" role=\"img\" xml:space=\"preserve\">",
      "<title>\(Self.escaped(title))</title>",
      "<style>text { font: \(Self.number(Self.fontSize))px ui-monospace, SFMono-Regular, Menlo, Consolas, "
        + "'DejaVu Sans Mono', monospace; white-space: pre }</style>",
      "<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"\(hex(theme.background, isInk: false))\"/>",
    ]
    for y in 0..<canvas.size.height {
      let runs = CellRun.runs(canvas.row(y), in: theme, at: .trueColor)
      lines += runs.compactMap { background(of: $0, y) }
      lines += runs.compactMap { letters(of: $0, y) }
    }
    return lines.joined(separator: "\n") + "\n</svg>\n"
  }

  private func background(of run: CellRun, _ y: Int) -> String? {
    let color = colors(of: run).paper
    guard color != hex(theme.background, isInk: false) else { return nil }
    return "<rect x=\"\(Self.x(run.x))\" y=\"\(Self.y(y, 0))\" width=\"\(Self.width(run.width))\" "
      + "height=\"\(Self.number(Self.cellHeight))\" fill=\"\(color)\"/>"
  }

  private func letters(of run: CellRun, _ y: Int) -> String? {
    let attributes = run.style.attributes
    // Blanks before and after the text are omitted, unless they are underlined.
    let isUnderlined = attributes.contains(.underline)
    let head = isUnderlined ? 0 : run.text.prefix { $0 == " " }.count
    let tail = isUnderlined ? 0 : run.text.reversed().prefix { $0 == " " }.count
    guard isUnderlined || head < run.text.count else { return nil }
    let text = run.text.dropFirst(head).dropLast(tail)
    let width = run.isWide ? run.width : run.width - head - tail
    var parts = ["<text x=\"\(Self.x(run.x + head))\" y=\"\(Self.y(y, Self.baseline))\""]
    parts.append("textLength=\"\(Self.width(width))\" lengthAdjust=\"spacingAndGlyphs\"")
    parts.append("fill=\"\(colors(of: run).ink)\"")
    if attributes.contains(.bold) { parts.append("font-weight=\"bold\"") }
    if attributes.contains(.italic) { parts.append("font-style=\"italic\"") }
    if attributes.contains(.dim) { parts.append("opacity=\"0.6\"") }
    if isUnderlined { parts.append("text-decoration=\"underline\"") }
    return parts.joined(separator: " ") + ">\(Self.escaped(String(text)))</text>"
  }

  private func colors(of run: CellRun) -> (ink: String, paper: String) {
    let ink = hex(run.style.foreground, isInk: true)
    let paper = hex(run.style.background, isInk: false)
    return run.style.attributes.contains(.reverse) ? (paper, ink) : (ink, paper)
  }

  // MARK: Colours

  /// The colors in a picture that replace a terminal's default foreground and background.
  private static let ownColors = (
    dark: (ink: RGB(0xD8, 0xD8, 0xD8), paper: RGB(0x12, 0x12, 0x12)),
    light: (ink: RGB(0x1C, 0x1C, 0x1C), paper: RGB(0xFF, 0xFF, 0xFF))
  )
  /// The eight named colors with the values that xterm uses.
  private static let named = [0x00_0000, 0xCD_0000, 0x00_CD00, 0xCD_CD00, 0x00_00EE, 0xCD_00CD, 0x00_CDCD, 0xE5_E5E5]

  private func hex(_ color: ThemeColor, isInk: Bool) -> String {
    switch color {
    case .terminal: own(isInk).description
    case .ansi(let name): Self.rgb(name.index).description
    case .rgb(let rgb, _, _): rgb.description
    }
  }

  private func hex(_ color: ScreenColor, isInk: Bool) -> String {
    switch color {
    // Blank cells can show the terminal's background instead of the theme's.
    case .terminal: hex(isInk ? theme.foreground : theme.background, isInk: isInk)
    case .index(let index): (XtermPalette.color(index) ?? Self.rgb(Int(index))).description
    case .rgb(let rgb): rgb.description
    }
  }

  private func own(_ isInk: Bool) -> RGB {
    let pair = theme.variant == .dark ? Self.ownColors.dark : Self.ownColors.light
    return isInk ? pair.ink : pair.paper
  }

  private static func rgb(_ index: Int) -> RGB {
    let value = named[index % named.count]
    return RGB(UInt8(value >> 16), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF))
  }

  // MARK: Text

  private static func x(_ column: Int) -> String { number(margin + Double(column) * cellWidth) }
  private static func y(_ row: Int, _ below: Double) -> String { number(margin + Double(row) * cellHeight + below) }
  private static func width(_ columns: Int) -> String { number(Double(columns) * cellWidth) }

  /// A number with at most one decimal. The decimal is omitted if it is zero.
  private static func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      default: escaped.append(character)
      }
    }
    return escaped
  }
}

/// Adjacent cells of one row with the same look.
struct CellRun {
  var x: Int
  var width: Int
  var text: String
  /// Whether every cluster of the run is two columns wide.
  var isWide: Bool
  var style: ResolvedStyle

  /// The runs in a row, from left to right.
  static func runs(_ row: some Sequence<Cell>, in theme: Theme, at depth: ColorDepth) -> [CellRun] {
    var runs: [CellRun] = []
    var x = 0
    for cell in row {
      defer { x += 1 }
      // The right half of a wide cluster belongs to the run of its left half.
      guard cell.width > 0 else { continue }
      var style = theme.resolved(cell.role, at: depth)
      style.attributes.formUnion(cell.attributes)
      let isWide = cell.width == 2
      if var last = runs.last, last.style == style, !last.isWide, !isWide {
        last.text += cell.cluster.text
        last.width += 1
        runs[runs.count - 1] = last
      } else {
        runs.append(CellRun(x: x, width: cell.width, text: cell.cluster.text, isWide: isWide, style: style))
      }
    }
    return runs
  }

  var isBlank: Bool { text.allSatisfy { $0 == " " } }
}

extension Canvas {
  /// The text of the rows, without trailing blanks.
  package var plainText: String {
    let rows = (0..<size.height).map { y in
      let text = row(y).map(\.cluster.text).joined()
      return String(text.reversed().drop { $0 == " " }.reversed())
    }
    return rows.joined(separator: "\n") + "\n"
  }

  /// The rows with colors and attributes for a terminal with a color depth (ECMA-48, SGR). Each row ends with a reset.
  package func ansiText(in theme: Theme, at depth: ColorDepth) -> String {
    var text = ""
    for y in 0..<size.height {
      for run in CellRun.runs(row(y), in: theme, at: depth) {
        text += "\u{1B}[\(run.style.sgrParameters)m\(run.text)"
      }
      text += "\u{1B}[0m\n"
    }
    return text
  }
}

extension ResolvedStyle {
  /// The parameters of `ESC [ … m` that set this style, regardless of the previous one.
  package var sgrParameters: String {
    var numbers = ["0"]
    let numbered: [(Attributes, String)] = [
      (.bold, "1"), (.dim, "2"), (.italic, "3"), (.underline, "4"), (.reverse, "7"),
    ]
    numbers += numbered.filter { attributes.contains($0.0) }.map(\.1)
    for (color, named, extended) in [(foreground, 30, 38), (background, 40, 48)] {
      switch color {
      case .terminal: break
      case .index(let index) where index < 8: numbers.append("\(named + Int(index))")
      case .index(let index): numbers.append("\(extended);5;\(index)")
      case .rgb(let rgb): numbers.append("\(extended);2;\(rgb.red);\(rgb.green);\(rgb.blue)")
      }
    }
    return numbers.joined(separator: ";")
  }
}
