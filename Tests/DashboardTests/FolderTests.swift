// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Testing

/// The arrow that the modules of the dashboard do not force: drawing asks the state, never the functions that change it.
@Suite("Dashboard source folders")
struct FolderTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/Screen")

  private static func texts(in folder: String) throws -> [String: String] {
    var texts: [String: String] = [:]
    let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
    for case let file as URL in try #require(files) where file.pathExtension == "swift" {
      texts[file.lastPathComponent] = try String(contentsOf: file, encoding: .utf8)
    }
    return texts
  }

  private static func names(_ pattern: Regex<(Substring, Substring)>, in texts: [String: String]) -> Set<String> {
    Set(texts.values.flatMap { text in text.matches(of: pattern.anchorsMatchLineEndings()).map { String($0.1) } })
  }

  @Test("Pane views read the state and never call update code")
  func updates() throws {
    let updates = Self.names(/^  (?:mutating )?(?:func|var) (\w+)/, in: try Self.texts(in: "Dashboard/Update"))
    #expect(updates.contains("perform"))
    for (file, text) in try Self.texts(in: "DashboardView") {
      let asked = Self.names(/state\.(\w+)/, in: [file: text])
      #expect(asked.isDisjoint(with: updates), "\(file): \(asked.intersection(updates))")
    }
  }
}
