// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Foundation
import Glibc
import TerminalCanvas
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import HearthCommand

/// What is printed for people cannot move a cursor, reorder or hide text, wherever it comes from.
@Suite struct ShownTextTests {
  private static let hostile = "a\u{1b}]52;c;SEVBUlRI\u{7}b\u{9b}2J\u{202e}c\nd"

  private func isSafe(_ text: ShownText) -> Bool {
    text.text.unicodeScalars.allSatisfy { $0 == "\n" || !SafeText.isUnsafe($0) }
  }

  @Test("Interpolated values are escaped, and literal text is unchanged")
  func interpolation() {
    let shown: ShownText = "\u{1b}[1m\(Self.hostile)\u{1b}[0m\n"
    #expect(shown.text == "\u{1b}[1ma␛]52;c;SEVBUlRI␇b⟨U+009B⟩2J⟨U+202E⟩c\\nd\u{1b}[0m\n")
    let (name, count): (String?, Int) = (nil, 3)
    #expect(("\(name ?? "none") \(count) \([1])" as ShownText).text == "none 3 [1]")
    // A text that is safe is not made so twice.
    let inner: ShownText = "x\u{1b}[0m"
    #expect(("<\(inner)>" as ShownText).text == "<x\u{1b}[0m>")
  }

  @Test("Text, lines and JSON are escaped, and keep their structure")
  func origins() {
    #expect(isSafe(ShownText(Self.hostile)) && !ShownText(Self.hostile).text.contains("\n"))
    #expect(ShownText(lines: "a\u{7}\nb").text == "a␇\nb")
    #expect(ShownText(json: "{\"a\": \"x\u{202e}\u{9b}y\"}").text == "{\"a\": \"x\\u202e\\u009by\"}")
    #expect(ShownText(json: "\"👩\u{200d}🚀\"").text == "\"👩\u{200d}🚀\"")
    #expect(["a", "b\(Self.hostile)"].map { ShownText($0) }.asLines().text.split(separator: "\n").count == 2)
  }

  @Test("A pipe gets data byte for byte and escaped messages")
  func pipe() throws {
    let file = TemporaryFolder()
    let descriptor = open(file.path, O_RDWR | O_CREAT | O_EXCL, 0o600)
    defer { close(descriptor) }
    let output = OutputFile(descriptor, file.path)
    try output.data(line: "\u{202e}\u{1b}")
    try output.line("\("\u{202e}\u{1b}")")
    try output.flush()
    #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "\u{202e}\u{1b}\n⟨U+202E⟩␛\n")
  }

  @Test("Lines about documents and changes are safe for any contents")
  func documents() {
    let key = DocumentKey(unchecked: ResourcePath("c/a\u{202e}"))
    let document = Document(
      key: key, version: SnapshotVersion(microseconds: 1),
      state: .found(DocumentData(["n\u{1b}": .string(Self.hostile)])))
    let database = DatabaseID(project: "p", database: "(default)")
    #expect(isSafe(DocumentLine.text(document, in: database)))
    for line in DocumentDifference(path: key.path, kind: .removed("{\"\u{202e}\": 1}")).lines { #expect(isSafe(line)) }
    #expect(isSafe(ListedEntry.document(key, exists: false).line))
  }
}
