// SPDX-License-Identifier: Apache-2.0
import Foundation
import TerminalCanvas
import TerminalTheme
import Testing

@testable import Dashboard
@testable import DashboardHost
@testable import DashboardModel
@testable import HearthCommand
@testable import Scenarios

@Suite("Screens without a terminal")
struct FrameTests {
  /// The README's pictures. `UPDATE_GOLDENS=1` rewrites them; look at them then.
  struct Picture: CustomTestStringConvertible, Sendable {
    var name: String
    var size = Size(width: 120, height: 36)
    var scene: PlayedShop.Scene
    var theme = "ember"
    var keys = ""

    var testDescription: String { name }
  }

  static let pictures = [
    Picture(name: "wall", size: Size(width: 120, height: 22), scene: .wall), Picture(name: "online", scene: .online),
    Picture(name: "offline", scene: .offline, keys: "2"),
    Picture(name: "document", scene: .document, theme: "paper"),
  ]
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private func request(
    _ picture: Picture, format: FrameRequest.Format = .svg
  ) throws -> FrameRequest {
    let catalog = ThemeCatalog()
    var request = FrameRequest(of: picture.size, theme: try catalog.theme(named: picture.theme).theme)
    request.format = format
    request.scene = picture.scene
    request.keys = try KeySequenceText.parse(picture.keys)
    request.themes = catalog.slugs.map { DashboardConfiguration.Theme(slug: $0, name: $0) }
    return request
  }

  @Test("The README's pictures match the program's output", arguments: pictures)
  func readme(picture: Picture) throws {
    let file = Self.root.appending(path: ".github/\(picture.name).svg")
    let drawn = try request(picture).rendered()
    if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(drawn.utf8).write(to: file)
      return
    }
    let kept = try? String(contentsOf: file, encoding: .utf8)
    #expect(kept == drawn, "UPDATE_GOLDENS=1 draws .github/\(picture.name).svg again; look at it")
    let readme = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
    #expect(readme.contains(".github/\(picture.name).svg"))
  }

  @Test("A sample scene always gives the same screen, which shows the connection state")
  func moments() throws {
    for scene in PlayedShop.Scene.allCases {
      let picture = Picture(name: "", scene: scene)
      let text = try request(picture, format: .text).rendered()
      #expect(try request(picture, format: .text).rendered() == text)
      #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count == 37)
      #expect(text.contains([.online, .wall].contains(scene) ? "● ONLINE" : "OFFLINE"), "\(text)")
    }
    let offline = try request(Picture(name: "", scene: .offline), format: .text).rendered()
    #expect(offline.contains("⇡3") && offline.contains("LOCAL") && offline.contains("pending"), "\(offline)")
  }

  @Test("A scenario of hearth play is drawn as on screen, including acknowledged writes")
  func scenario() throws {
    let text = """
      listen cities where state == CA
      set cities/SF {"state": "CA", "population": 860000}
      expect acknowledged cities/SF
      offline
      update cities/SF population=870000
      set cities/LA {"state": "CA"}
      delete cities/SF
      """
    var request = try request(Picture(name: "", scene: .online), format: .text)
    func drawn(_ lines: Int) throws -> String {
      let part = text.split(separator: "\n").prefix(lines).joined(separator: "\n")
      request.scenario = try ScenarioParser(database: PlayedShop.database).steps(part, of: "test")
      return request.rendered()
    }

    let online = try drawn(3)
    #expect(
      online.contains("● ONLINE") && online.contains("+ cities/SF") && online.contains("#1 acknowledged, rtt 31 ms"),
      "\(online)")
    // Figures are those of what was played; none is shown that no client has measured.
    #expect(online.contains("watch  OPEN") && !online.contains("target") && !online.contains(" MB"), "\(online)")
    let offline = try drawn(7)
    #expect(offline.contains("⇡3") && offline.contains("- cities/SF") && offline.contains("+ cities/LA"), "\(offline)")
    request.scenario = try ScenarioParser(database: PlayedShop.database).steps(text + "\nonline", of: "test")
    let back = request.rendered()
    #expect(back.contains("● ONLINE") && back.contains("⇡0"), "\(back)")
  }

  @Test("A picture of any size and text is well-formed SVG", arguments: [1, 4, 24, 60, 200])
  func sizes(width: Int) throws {
    for height in [1, 3, 12, 60] {
      let picture = Picture(name: "", size: Size(width: width, height: height), scene: .document)
      let parser = XMLCheck()
      #expect(parser.isWellFormed(try request(picture).rendered()))
    }
    var canvas = Canvas(size: Size(width: 30, height: 1))
    canvas.put("<a&b> \"漢字\" \u{202E} \u{1}", at: Point(x: 0, y: 0))
    let theme = try ThemeCatalog().theme(named: "ember").theme
    let svg = canvas.svg(in: theme, title: "<&>")
    #expect(
      XMLCheck().isWellFormed(svg) && svg.contains("&lt;a&amp;b&gt; &quot;") && svg.contains("<title>&lt;&amp;&gt;"))
  }

  @Test("Columns of a picture stay aligned, with wide characters drawn separately")
  func columns() throws {
    var canvas = Canvas(size: Size(width: 10, height: 2))
    canvas.put("ab漢c", at: Point(x: 1, y: 1))
    let theme = try ThemeCatalog().theme(named: "ember").theme
    let svg = canvas.svg(in: theme, title: "x")

    // 8 of margin, 8.4 per column; 8 and 17 per row with the baseline at 13.
    #expect(svg.contains("<text x=\"16.4\" y=\"38\" textLength=\"16.8\""))
    #expect(
      svg.contains("x=\"33.2\" y=\"38\" textLength=\"16.8\" lengthAdjust=\"spacingAndGlyphs\" fill=\"#d7dce4\">漢<"))
    #expect(svg.contains("x=\"50\" y=\"38\" textLength=\"8.4\""))
  }

  @Test("A screen as ANSI text is its plain text with color sequences")
  func ansi() throws {
    let picture = Picture(name: "", size: Size(width: 60, height: 16), scene: .online)
    let plain = try request(picture, format: .text).rendered()
    let colored = try request(picture, format: .ansi).rendered()
    let bare = colored.replacing(/\u{1B}\[[0-9;]*m/, with: "")
    let rows = bare.split(separator: "\n", omittingEmptySubsequences: false).map { row in
      String(row.reversed().drop { $0 == " " }.reversed())
    }
    #expect(rows.joined(separator: "\n") == plain)
    #expect(colored.contains("38;2;"))
  }

  @Test("'draw' reports an invalid size or key", arguments: ["120", "0x1", "axb", "120x36x1", "9999x10"])
  func wrong(size: String) {
    #expect(throws: (any Error).self) { try FrameSizeText.parse(size) }
    #expect(throws: (any Error).self) { try KeySequenceText.parse("j ctrl-") }
  }
}

/// A reader of XML that looks for nothing but mistakes: open and closed elements, quoted attributes, known entities.
private struct XMLCheck {
  func isWellFormed(_ text: String) -> Bool {
    var open: [Substring] = []
    var rest = text[...]
    while let start = rest.firstIndex(of: "<") {
      guard isText(rest[..<start]), let end = rest[start...].firstIndex(of: ">") else { return false }
      let tag = rest[rest.index(after: start)..<end]
      rest = rest[rest.index(after: end)...]
      if tag.first == "/" {
        guard open.popLast() == tag.dropFirst() else { return false }
      } else if tag.last != "/" {
        open.append(tag.prefix { $0 != " " })
      }
      guard tag.filter({ $0 == "\"" }).count.isMultiple(of: 2) else { return false }
    }
    return open.isEmpty && isText(rest)
  }

  private func isText(_ text: Substring) -> Bool {
    text.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" }
      && text.split(separator: "&", omittingEmptySubsequences: false).dropFirst().allSatisfy { part in
        ["lt;", "gt;", "amp;", "quot;"].contains { part.hasPrefix($0) }
      }
  }
}
