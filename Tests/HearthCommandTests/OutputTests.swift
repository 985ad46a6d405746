// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import FirestoreTesting
import Foundation
import Glibc
import Testing

@testable import CommandOptions
@testable import CommandOutput
@testable import CommandTransfer
@testable import DashboardHost
@testable import HearthCommand

@Suite struct OutputTests {
  private let folder = TemporaryFolder()

  init() throws { try folder.make() }

  private func path(_ name: String) -> String { folder(name) }
  private func write(_ name: String, _ text: String) throws { try folder.write(name, text) }
  private func text(_ name: String) throws -> String { try String(contentsOfFile: folder(name), encoding: .utf8) }
  private var names: [String] { get throws { try folder.names } }

  @Test("An output path may be a file, link, stream or descriptor, but not a folder")
  func places() throws {
    try write("file", "")
    symlink("file", path("link"))
    symlink(path("link"), path("second"))
    symlink("absent", path("dangling"))
    symlink("loop", path("loop"))
    symlink("/dev/null", path("null"))
    mkfifo(path("pipe"), 0o600)
    #expect(try OutputPlace(path("second")) == .file(path("file")))
    #expect(try OutputPlace(path("dangling")) == .file(path("absent")))
    #expect(try OutputPlace(path("null")) == .stream("/dev/null"))
    #expect(try OutputPlace(path("pipe")) == .stream(path("pipe")))
    #expect(try OutputPlace("/dev/stderr") == .descriptor(2))
    #expect(try OutputPlace("/proc/self/fd/77") == .descriptor(77))
    #expect(try OutputPlace("plain") == .file("plain"))
    for wrong in [folder.path, path("file/x"), path("loop"), folder.path + "/new/", ""] {
      #expect(throws: CommandFailure.self, "\(wrong)") { try OutputPlace(wrong) }
    }
  }

  @Test("A replacement file gets its name and mode only when it is complete")
  func replacement() throws {
    try write("file", "old")
    chmod(path("file"), 0o604)
    let given = try FileReplacement(of: path("file"))
    _ = Glibc.write(given.descriptor, "half", 4)
    #expect(try text("file") == "old")
    given.discard()
    #expect(try names == ["file"] && text("file") == "old")

    let kept = try FileReplacement(of: path("file"))
    _ = Glibc.write(kept.descriptor, "whole", 5)
    try kept.commit()
    #expect(try names == ["file"] && text("file") == "whole")
    var status = stat()
    #expect(stat(path("file"), &status) == 0 && status.st_mode & 0o777 == 0o604)
  }

  @Test("Import state is saved in a private file, and no other file remains")
  func importState() throws {
    let identity = ImportState.Identity(backend: "b", database: "d", format: .jsonl)
    let state = ImportState(identity: identity, position: InputPosition(), documents: 7, rejected: 0)
    try state.write(to: path("state"))
    #expect(ImportState.read(path("state")) == state)
    var status = stat()
    #expect(stat(path("state"), &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try names == ["state"])
  }

  @Test(
    "Terminal text escapes invisible characters, and emoji keep their joiners",
    arguments: [
      ("plain\n", "plain\n"), ("é 日本", "é 日本"), ("a\u{202e}b", "a\\u202eb"), ("\u{200d}a\u{200d}b", "\\u200da\\u200db"),
      ("\u{e0041}", "\\udb40\\udc41"), ("\u{1b}[2J\u{9b}", "\\u001b[2J\\u009b"),
      ("👩\u{200d}🚀 می\u{200c}خ", "👩\u{200d}🚀 می\u{200c}خ"),
    ])
  func terminalText(text: String, shown: String) {
    #expect(ShownText(json: text).text.unicodeScalars.elementsEqual(shown.unicodeScalars))
  }

  @Test("An edited text is private and can be recovered after a kill")
  func editorFile() throws {
    let request = EditRequest(.newDocument(in: ResourcePath("cities")), text: "{}")
    let file = try EditorFile(for: request, below: folder.path)
    let edited = file.path
    var status = stat()
    #expect(stat(edited, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try file.text() == "{}")
    #expect(EditorFile.abandoned(below: folder.path) == [])
    file.remove()
    #expect(try FileManager.default.contentsOfDirectory(atPath: path("edits")) == [])

    // No process has this number (proc(5): pid_max is at most 2^22).
    let left = "edits/\(1 << 22 + 1)-x"
    try write("\(left)/SF.json", "{}")
    #expect(EditorFile.abandoned(below: folder.path) == [path(left)])
  }
}
