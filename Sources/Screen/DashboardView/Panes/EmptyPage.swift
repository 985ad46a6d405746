// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import TerminalCanvas

/// Draws the page that replaces the rows of an empty database. It explains how to create a first document, the keys,
/// the signs, and commands for another terminal.
struct EmptyPage {
  let frame: FrameState
  let glyphs: Glyphs

  /// Whether the database is known to be empty.
  static func isShown(_ state: DashboardState) -> Bool {
    state.browser.roots?.isEmpty == true && !state.network.isOffline && state.browser.rootsFailure == nil
  }

  // MARK: Ways to a first document

  /// The ways to create a document, each with the text to type and its effect.
  private var ways: [(text: String, role: Role, indent: Int)] {
    var ways: [(String, Role, Int)] = [("no collections yet", .textMuted, 0)]
    if let other = frame.state.browser.otherDatabase, let options = frame.state.configuration.reachingOptions {
      let more = other.count > 1 ? "; in all databases: \(other.count)" : ""
      ways += [
        ("data is in \(other.name)\(more)", .textStrong, 0),
        (["hearth", options, other.options].filter { !$0.isEmpty }.joined(separator: " "), .key, 0),
        ("after q, or in another terminal", .text, 2),
      ]
    }
    ways.append(("", .text, 0))
    let keymap = frame.state.configuration.keymap
    func key(_ name: String, _ context: KeyContext) -> String {
      keymap.command(named: name, in: [context])?.keyText(glyphs, limit: 1) ?? name
    }
    let isHere = frame.state.configuration.attached == nil && !frame.state.configuration.isReadOnly
    if isHere {
      ways += [
        ("\(key("new", .pane(.collections)))", .key, 0), ("a first document, typed here", .text, 2),
        ("\(key("palette", .screen))import FILE", .key, 0), ("the documents of a file", .text, 2),
      ]
    }
    if let options = frame.state.configuration.reachingOptions {
      let rest = options.isEmpty ? [] : ["  " + options]
      ways.append(("hearth set cities/SF name=SF" + (rest.isEmpty ? "" : " \\"), .key, 0))
      ways += rest.map { ($0, .key, 0) }
      ways.append(("in another terminal, while you look", .text, 2))
    }
    if isHere { ways += [("", .text, 0), ("hearth --demo", .key, 0), ("a shop that is busy already", .text, 2)] }
    return ways
  }

  func drawWays(in area: Rect, on canvas: inout Canvas) {
    // Blank rows are dropped first if there is little room.
    let all = ways
    let shown = all.count <= area.height ? all : all.filter { !$0.text.isEmpty }
    let keys = FirstKeys(frame.state, glyphs)
    let showsKeys = area.width >= 66 && area.height >= keys.rows(columns: 1)
    for (row, way) in shown.prefix(area.height).enumerated() {
      let width = (showsKeys ? 38 : area.width) - 1 - way.indent
      let text = SafeText.truncated(way.text, to: width, ellipsis: glyphs.ellipsis)
      canvas.put(text, at: Point(x: area.x + 1 + way.indent, y: area.y + row), role: way.role, clip: area)
    }
    guard showsKeys else { return }
    keys.draw(
      in: Rect(x: area.x + 39, y: area.y, width: area.width - 39, height: area.height), columns: 1, selected: nil,
      on: &canvas)
  }

  // MARK: Keys

  /// The column where the texts next to the keys start.
  private static let keyText = 14

  /// Draws the keys of the focused pane and of the whole screen. Each key has as many rows as its text needs.
  func drawKeys(in area: Rect, on canvas: inout Canvas) {
    guard area.height > 4, area.width > 30 else { return }
    let commands = frame.state.configuration.keymap.commands(in: [.pane(frame.state.focus), .screen]) {
      $0.title != nil
    }
    var y = area.y
    for command in commands {
      let text = command.title?.text(frame.state) ?? command.help
      let parts = WrappedText.lines(text, width: area.width - Self.keyText - 1, glyphs.ellipsis)
      guard y + parts.count <= area.maxY else { return }
      for (row, part) in parts.enumerated() {
        var line = Line(glyphs)
        line.skip(1)
        line.cell(row == 0 ? command.keyText(glyphs) : "", .key, width: Self.keyText - 2)
        line.skip(1)
        line.add(part, .textMuted)
        canvas.put(line, x: area.x, y: y, width: area.width)
        y += 1
      }
    }
  }

  // MARK: Signs

  /// Draws the signs of the screen and their meanings in as many columns as fit.
  /// - Returns: the row below the signs.
  @discardableResult func drawLegend(in area: Rect, on canvas: inout Canvas) -> Int {
    guard area.height > 3, area.width >= 60 else { return area.y }
    let indented = Rect(x: area.x + 2, y: area.y, width: area.width - 2, height: area.height)
    return SignLegend(glyphs, Self.isShown(frame.state) ? .signs : .data).draw(
      in: indented, columnWidth: 39, on: &canvas, glyphs)
  }

  // MARK: Commands

  private static let commands: [(name: String, text: String)] = [
    ("ls", "collections, the documents of one, or subcollections"),
    ("get cities/SF", "a document, or a collection's: where, order, limit"),
    ("set cities/SF name=SF", "write a document; add and create make new ones"),
    ("serve --local", "this data for Firestore SDKs, in place of an emulator"),
    ("update cities/SF n=1", "some fields of a document, or of a query's results"),
    ("tree", "collections, documents and subcollections as a tree"),
    ("count cities", "the number of documents, counted at the server; also sum, avg"),
    ("delete cities/SF", "a document, a query's results, or all below a path"),
    ("watch cities", "a line for every change, for people or as JSON"),
    ("wall", "the last minute of all listeners on one screen"),
    ("import FILE", "the documents of a file: JSON, JSON lines, CSV, TSV"),
    ("export cities", "documents as a file that import reads"),
    ("backup DIR", "a whole database, with rules and indexes; or restore it"),
    ("schema cities", "the fields that documents have, and their types"),
    ("play FILE", "a scenario: go offline, write, expect events in time"),
    ("attach", "the client of a running program, in a dashboard"),
  ]

  /// Draws commands for another terminal, if commands there can use this data. They are in two columns. In a narrow
  /// pane they are in one column below the other lines.
  func drawCommands(in area: Rect, on canvas: inout Canvas) {
    guard let options = frame.state.configuration.reachingOptions, area.width >= 44, area.height > 3 else { return }
    let columns = area.width >= 120 ? 2 : 1
    let prefix = columns == 2 ? "hearth " : ""
    let title =
      "in another terminal" + (columns == 2 ? "" : ", after hearth") + (options.isEmpty ? "" : ", with " + options)
    canvas.put(title, at: Point(x: area.x + 1, y: area.y), role: .textMuted, clip: area)
    let rows = min(area.height - 1, (Self.commands.count + columns - 1) / columns)
    let width = area.width / columns
    for (index, command) in Self.commands.enumerated() where index / rows < columns {
      var line = Line(glyphs)
      line.skip(2)
      line.cell(prefix + command.name, .key, width: columns == 2 ? 30 : 22)
      line.add(SafeText.truncated(command.text, to: width - line.width - 1, ellipsis: glyphs.ellipsis), .textMuted)
      canvas.put(line, x: area.x + index / rows * width, y: area.y + 1 + index % rows, width: width)
    }
  }
}
