// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Testing

@testable import HearthCommand

/// What `hearth shell` remembers of what was typed.
@Suite struct ShellHistoryTests {
  private let folder = TemporaryFolder()
  private var file: String { folder("state/shell-history") }

  private func kept() -> [String] { ShellHistory(file).entries }

  @Test("Shell input is restored at the next start, may be multi-line and is private")
  func comesBack() throws {
    var history = ShellHistory(file)
    let entries = ["get a", "set a/b {\n  \"x\": \"\\n\"}", #"\c prod"#]
    for entry in entries { history.add(entry) }
    #expect(history.problem == nil && kept() == entries)
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test("The history omits repeated and empty lines, and lines that begin with a space")
  func leftOut() {
    var history = ShellHistory(file)
    for entry in ["ls", "ls", "", "  ", " secret", "get a\n", "ls"] { history.add(entry) }
    #expect(kept() == ["ls", "get a", "ls"])
  }

  @Test("Two shells append to one history file")
  func shared() {
    var (one, two) = (ShellHistory(file), ShellHistory(file))
    one.add("a")
    two.add("b")
    one.add("c")
    #expect(one.entries == ["a", "c"] && kept() == ["a", "b", "c"])
  }

  @Test("A damaged history file loses only the damage; an unwritable one is reported")
  func damaged() throws {
    try FileManager.default.createDirectory(atPath: folder.path + "/state", withIntermediateDirectories: true)
    try Data([0x67, 0x0A, 0xFF, 0xFE, 0x0A, 0x0A, 0x68]).write(to: URL(filePath: file))
    #expect(kept() == ["g", "h"])
    // A folder stands where the file should.
    var history = ShellHistory(folder.path + "/state")
    history.add("ls")
    #expect(history.problem?.contains(folder.path) == true && history.entries == ["ls"])
  }

  @Test("The shell history has a size limit and keeps the newest entries")
  func bounded() throws {
    try FileManager.default.createDirectory(atPath: folder.path + "/state", withIntermediateDirectories: true)
    let many = (0..<4 * ShellHistory.limit).map { "command number \($0) with some words" }
    try Data((many.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: file))
    var history = ShellHistory(file)
    #expect(history.entries.count == ShellHistory.limit && history.entries.last == many.last)
    history.add("newest")
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == ShellHistory.limit && lines.last == "newest")
    history.add(String(repeating: "x", count: ShellHistory.entryLimit + 1))
    #expect(history.entries.last == "newest")
  }
}
