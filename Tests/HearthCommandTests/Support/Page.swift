// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A page of Markdown of the repository, and what it names.
struct Page: CustomTestStringConvertible, Sendable {
  static let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
  static let manual = "Sources/Command/HearthCommand/Manual/"

  let path: String
  let text: String

  var testDescription: String { path }

  init(_ path: String) throws {
    self.path = path
    text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }

  /// The README, the manual and the papers of `.github`.
  static func all() throws -> [Page] {
    let folders = try [manual, ".github/"].flatMap { folder in
      try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
        .filter { $0.hasSuffix(".md") }.sorted().map { folder + $0 }
    }
    return try (["README.md"] + folders).map { try Page($0) }
  }

  /// The code in its prose.
  var spans: [String] { prose.flatMap(Self.spans) }

  static func spans(of line: String) -> [String] {
    line.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
      .map { String($0.element).replacing("\\|", with: "|") }
  }

  /// The lines of its blocks for a shell.
  var lines: [String] { split { $0.hasPrefix("sh") } }

  /// The targets of its links within the repository.
  var links: [String] {
    prose.flatMap { line in
      line.matches(of: /\]\(([^)#\s]+)\)/).map { String($0.output.1) }
    }.filter { $0.firstMatch(of: /^[a-z]+:/) == nil }
  }

  /// Whether there is a file or folder of this name: from the root, beside the page, among the papers, or an article.
  func has(_ target: String) -> Bool {
    let folders = ["", (path as NSString).deletingLastPathComponent, ".github", "Sources/Client/Hearth/Hearth.docc"]
    return folders.contains { folder in
      let file = Self.root.appending(path: folder).appending(path: target).standardizedFileURL
      return FileManager.default.fileExists(atPath: file.path)
    }
  }

  /// The rows of all tables whose first title this is.
  func rows(under title: String) -> [[String]] {
    var rows: [[String]] = []
    var isWanted = false
    for line in prose {
      guard line.hasPrefix("|") else {
        isWanted = false
        continue
      }
      let cells = line.replacing("\\|", with: "\u{1}").split(separator: "|").map {
        $0.replacing("\u{1}", with: "|").trimmingCharacters(in: .whitespaces)
      }
      if cells.first == title {
        isWanted = true
      } else if isWanted, !line.hasPrefix("|--") {
        rows.append(cells)
      }
    }
    return rows
  }

  /// The lines outside of blocks.
  private var prose: [String] { split { $0.isEmpty } }

  /// The lines of blocks in the wanted languages; the prose has the empty one.
  private func split(_ isWanted: (String) -> Bool) -> [String] {
    var language = ""
    return text.split(separator: "\n", omittingEmptySubsequences: false).compactMap { line in
      guard line.hasPrefix("```") else { return isWanted(language) ? String(line) : nil }
      language = language.isEmpty ? String(line.dropFirst(3)) + " " : ""
      return nil
    }
  }
}
