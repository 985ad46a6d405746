// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Testing

/// The arrows between the folders of the dashboard: what is drawn, and what changes, both look at the state; the state
/// looks at neither.
@Suite("Folders of the dashboard")
struct FolderTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/Screen/Dashboard")

  private static func texts(in folders: String...) throws -> [String: String] {
    var texts: [String: String] = [:]
    for folder in folders {
      let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
      for case let file as URL in try #require(files) where file.pathExtension == "swift" {
        texts[file.lastPathComponent] = try String(contentsOf: file, encoding: .utf8)
      }
    }
    return texts
  }

  private static func names(_ pattern: Regex<(Substring, Substring)>, in texts: [String: String]) -> Set<String> {
    Set(texts.values.flatMap { text in text.matches(of: pattern.anchorsMatchLineEndings()).map { String($0.1) } })
  }

  @Test("State and update name no pane")
  func panes() throws {
    let panes = Self.names(/^(?:struct|enum) (\w+)/, in: try Self.texts(in: "Panes", "View"))
    #expect(panes.contains("DetailPane"))
    let below = try Self.texts(
      in: "Drawing", "Client", "Feed", "Filters", "Arguments", "Browser", "State", "Keymap", "Overlays", "FieldEditor",
      "Update")
    for (file, text) in below {
      let code = text.split(separator: "\n").filter { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//") }
      let words = Set(code.joined(separator: "\n").split { !$0.isLetter && !$0.isNumber }.map(String.init))
      #expect(words.isDisjoint(with: panes), "\(file): \(words.intersection(panes))")
    }
  }

  @Test("Panes ask the state, not what changes it")
  func updates() throws {
    let updates = Self.names(/^  (?:mutating )?(?:func|var) (\w+)/, in: try Self.texts(in: "Update"))
    #expect(updates.contains("perform"))
    for (file, text) in try Self.texts(in: "Panes", "View") {
      let asked = Self.names(/state\.(\w+)/, in: [file: text])
      #expect(asked.isDisjoint(with: updates), "\(file): \(asked.intersection(updates))")
    }
  }
}
