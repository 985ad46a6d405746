// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Foundation
import SeededRandom
import TerminalTheme
import Testing

@testable import CommandOptions
@testable import CommandOutput
@testable import DashboardHost
@testable import HearthCommand

/// Files that people write, and dashboards read again while they run: whatever is in them, nothing dies of it, and what
/// is wrong is told with its line.
@Suite struct MutatedFilesTests {
  /// So many files of each kind; 25 000 of each with `HEARTH_FULL=1`.
  private static let count = TestSize.count(250, full: 25_000)

  private static let configuration = """
    theme = "ember"
    mouse = true
    glyphs = "auto"
    restore-listeners = true
    [keys]
    toggle-network = "o"
    half-page-down = ["ctrl-d", "J"]
    [keys.live-feed]
    clear-feed = "C"
    """
  private static let connections = """
    [shop]
    emulator = "127.0.0.1:8080"
    project = 'p'   # the shop's
    readonly = true
    [prod]
    cloud = true
    credentials = "~/k.json"
    """
  private static let listeners = #"""
    [[listener]]
    name = "a\t\u00e9"
    path = "cities"
    where = ['state == "CA"', "n > 1"]
    order = ["n:desc"]
    limit = 5
    [[listener]]
    group = "b"
    source = "cache"
    metadata = false
    """#
  private static let theme = """
    schema = 1
    name = "Mine"
    inherits = "ember"
    variant = "dark"
    cvd = true
    [palette]
    fg = "#d0d0d0"
    bg = { hex = "#101010", c256 = 233, c16 = "black" }
    [roles]
    "text" = { fg = "fg", bg = "bg", attrs = ["bold"], mono = ["reverse"] }
    "text.muted" = "fg"
    """

  private static let tokens = [
    "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\"", "'", "\"\"\"", "'''", "#", "\n", "\r", "\r\n", "\\", "\\u",
    "\\U0010FFFF", "é", "*", "(", "@", "/", "true", "0x", "1e5", "nan", "-", "+", "_", "1979-05-27", "07:32:00", " ",
    "\t", "\u{0}", "\u{1b}", "\u{202e}", "9223372036854775808", "9223372036854775807", ":", "keys", "[.keys]",
    "[#keys]", "[{keys]", "[(keys)]", "[é]", "[*]", "[=]",
  ]

  private static func mutated(_ text: String, _ random: inout SeededGenerator) -> String {
    var scalars = Array(text.unicodeScalars)
    for _ in 0..<random.pick([1, 1, 1, 2, 3, 6]) {
      let start = Int.random(in: 0...scalars.count, using: &random)
      let end = min(scalars.count, start + random.pick([0, 0, 1, 1, 3, 20]))
      switch Int.random(in: 0..<8, using: &random) {
      case 0: scalars.removeSubrange(start...)
      case 1: scalars.removeSubrange(start..<end)
      case 2: scalars.insert(contentsOf: scalars[start..<end], at: Int.random(in: 0...scalars.count, using: &random))
      case 3:
        let lines = scalars.indices.filter { $0 == 0 || scalars[$0 - 1] == "\n" }
        guard let line = lines.randomElement(using: &random) else { continue }
        scalars.insert(contentsOf: random.pick(tokens).unicodeScalars, at: line)
      default: scalars.replaceSubrange(start..<end, with: random.pick(tokens).unicodeScalars)
      }
    }
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }

  /// Whether a message begins with the file's name and a line, or is about the whole file.
  private static func namesPlace(_ problem: String, _ name: String) -> Bool {
    problem.hasPrefix("\(name):") && problem.dropFirst(name.count + 1).first?.isNumber == true
  }

  @Test("Mutated files do not crash their readers, and each problem has its line", arguments: [1, 2, 3, 4])
  func mutations(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let database = DatabaseID(project: "p", database: "(default)")
    let folder = try TemporaryFolder.made()
    let path = folder("mine.toml")
    for step in 0..<Self.count {
      switch seed {
      case 1:
        let file = ConfigurationFile.parse(Self.mutated(Self.configuration, &random), name: "f")
        #expect(file.problems.allSatisfy { Self.namesPlace($0, "f") }, "step \(step): \(file.problems)")
      case 2:
        let text = Self.mutated(Self.connections, &random)
        let file = ConnectionsFile(text, name: "f", folder: "/", home: "/h")
        #expect(file.problems.allSatisfy { Self.namesPlace($0.text, "f") }, "step \(step): \(file.problems)")
      case 3:
        let file = ListenerFile.parse(Self.mutated(Self.listeners, &random), name: "f", database: database)
        #expect(file.problems.allSatisfy { Self.namesPlace($0, "f") }, "step \(step): \(file.problems)")
      default:
        try Self.mutated(Self.theme, &random).write(toFile: path, atomically: false, encoding: .utf8)
        let report = ThemeCatalog(directories: [folder.path]).check(atPath: path)
        #expect(report.theme != nil || !report.errors.isEmpty, "step \(step)")
      }
    }
  }
}
