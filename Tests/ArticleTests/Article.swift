// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A page with Swift in it.
struct Article: Equatable, Sendable, CustomTestStringConvertible {
  struct Block: Equatable, Sendable {
    /// Where it begins in the page.
    let line: Int
    let lines: [String]
  }

  /// The name of its file; of a page of the manual with its folder before it.
  let name: String
  let text: String

  var title: String { (name as NSString).deletingPathExtension }
  var isInCatalogue: Bool { name != "README.md" && !name.contains("/") }
  var testDescription: String { name }

  private static let repository = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardizedFileURL

  /// The articles of the catalogue, the README, and the pages of the manual with Swift in them.
  static func all() throws -> [Article] {
    let catalogue = repository.appendingPathComponent("Sources/Client/Hearth/Hearth.docc")
    let pages = try FileManager.default.contentsOfDirectory(atPath: catalogue.path).filter { $0.hasSuffix(".md") }
    let manual = repository.appendingPathComponent("Sources/Command/HearthCommand")
    let files =
      [("README.md", repository)] + pages.sorted().map { ($0, catalogue) }
      + ["Manual/Library.md", "Manual/Testing.md"].map { ($0, manual) }
    return try files.map { name, folder in
      Article(name: name, text: try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8))
    }
  }

  /// Its blocks of Swift.
  var blocks: [Block] {
    var blocks: [Block] = []
    var open: (line: Int, language: String, lines: [String])?
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).enumerated() {
      if !line.hasPrefix("```") {
        open?.lines.append(line)
      } else if let block = open {
        if block.language == "swift" { blocks.append(Block(line: block.line, lines: ShownCode.plain(block.lines))) }
        open = nil
      } else {
        open = (number + 2, String(line.dropFirst(3)), [])
      }
    }
    return blocks
  }
}

/// The code of this target between the marks.
enum ShownCode {
  /// The blocks that are run for an article, in order.
  static func blocks(of article: Article) throws -> [[String]] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    var blocks: [[String]] = []
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
      var open: [String]?
      let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
      for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
        switch line.drop(while: { $0 == " " }) {
        case "// Shown in \(article.name):": open = []
        case "// Until here.":
          if let open { blocks.append(plain(open)) }
          open = nil
        default: open?.append(line)
        }
      }
    }
    return blocks
  }

  /// Without what is different in a test, where the modules are imported at the top of a file and the database is the
  /// test's own; without indentation of the whole, and without empty lines around it.
  static func plain(_ lines: [String]) -> [String] {
    let shown = lines.filter { !$0.hasPrefix("import ") && $0 != "let db = Firestore.firestore()" }
    let trimmed = shown.drop { $0.allSatisfy(\.isWhitespace) }.reversed().drop { $0.allSatisfy(\.isWhitespace) }
      .reversed()
    let indentation = trimmed.filter { !$0.allSatisfy(\.isWhitespace) }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
    return trimmed.map { String($0.dropFirst(indentation)) }
  }
}
