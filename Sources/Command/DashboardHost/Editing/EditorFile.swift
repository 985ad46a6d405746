// SPDX-License-Identifier: Apache-2.0
import Dashboard
package import DashboardModel
import FirestoreJSON
import FirestoreModel
import Foundation
import Glibc

/// The text that the user's editor works on: a private file for as long as it is edited. It lies in a folder of its
/// own, named after this process, so that what a killed session leaves is found by the next one.
package struct EditorFile {
  private let folder: String
  /// The file that the editor is given.
  package let path: String

  /// - Parameter state: the folder of what hearth remembers; its `edits` holds the texts, or the system's temporary
  ///   folder where that cannot be written.
  /// - Throws: if the file cannot be made.
  package init(for request: EditRequest, below state: String) throws {
    folder = try Self.privateFolder(below: state)
    let name =
      switch request.subject {
      case .document(let key): key.documentID
      case .newDocument(let collection): "new-\(collection.last)"
      case .documentToCreate(let key): key.documentID
      case .rejectedWrite(let batch): "write-\(batch.rawValue)"
      }
    // Ids may hold anything but slashes; the editor only needs to recognise the document and the language.
    let safe = String(name.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" }.prefix(40))
    path = "\(folder)/\(safe).json"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: Data(request.text.utf8))
  }

  package func text() throws -> String { try String(contentsOf: URL(filePath: path), encoding: .utf8) }

  package func remove() {
    // A leftover does no harm beyond its space, and is told at the next start.
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The folders of texts that sessions left which have ended.
  package static func abandoned(below state: String) -> [String] {
    let edits = edits(below: state)
    // There is no folder before the first edit.
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: edits)) ?? []
    return folders.sorted().compactMap { folder in
      guard let process = pid_t(folder.prefix { $0 != "-" }), kill(process, 0) != 0, errno == ESRCH else { return nil }
      return "\(edits)/\(folder)"
    }
  }

  private static func privateFolder(below state: String) throws -> String {
    let own = "\(getpid())-\(UUID().uuidString.prefix(8))"
    do {
      try make(edits(below: state))
      let folder = "\(edits(below: state))/\(own)"
      try make(folder)
      return folder
    } catch {
      let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-\(own)").path
      try make(folder)
      return folder
    }
  }

  private static func make(_ folder: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  private static func edits(below state: String) -> String { "\(state)/edits" }
}
