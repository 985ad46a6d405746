// SPDX-License-Identifier: Apache-2.0
import ByteCompression
package import CommandOutput
import FirestoreExports
import FirestoreJSON
package import FirestoreModel
package import FirestoreProtocol
import FirestoreText
import Foundation

/// A folder that contains a backup of a database: its documents, rules and indexes.
/// ```
/// documents.jsonl.zst     the output of `hearth export --all`
/// firestore.rules         if there are rules
/// firestore.indexes.json  if there are indexes
/// firebase.json           names both for Google's tools, if either exists
/// backup.json             the description of the folder's content
/// ```
package struct BackupFolder: Hashable, Sendable {
  private static let names: Set<String> = [
    "documents.jsonl.zst", "firestore.rules", "firestore.indexes.json", "firebase.json", "backup.json",
  ]
  private static let documents = "documents.jsonl.zst"

  package let path: String

  package init(_ path: String) { self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path }

  package var documentFile: String { "\(path)/\(Self.documents)" }
  /// The file of the rules; `nil` without rules.
  package var rulesFile: String? { file("firestore.rules") }
  /// The file of the indexes; `nil` without indexes.
  package var indexFile: String? { file("firestore.indexes.json") }

  /// Returns the path of the documents' file if the path is a backup folder. Otherwise returns the path unchanged.
  package static func documents(at path: String) -> String {
    let folder = BackupFolder(path)
    return folder.file("backup.json") != nil && folder.file(documents) != nil ? folder.documentFile : path
  }

  private func file(_ name: String) -> String? {
    FileManager.default.fileExists(atPath: "\(path)/\(name)") ? "\(path)/\(name)" : nil
  }

  /// Reads the description of the folder's content.
  /// - Throws: `noInput` if the folder is not a backup, `badData` for an unreadable backup.
  package func description() throws(CommandFailure) -> BackupDescription {
    let name = "\(path)/backup.json"
    guard let data = FileManager.default.contents(atPath: name) else {
      throw CommandFailure(.noInput, "\(path) is not a backup: it has no backup.json.")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw CommandFailure(.badData, "\(name) is not UTF-8 text.")
    }
    return try BackupDescription(parsing: text, name: name)
  }

  // MARK: Writing

  /// The rules and indexes of a database, as texts.
  package struct Companions: Sendable {
    package var rules: String?
    package var indexes: String?

    package init(rules: String? = nil, indexes: String? = nil) { (self.rules, self.indexes) = (rules, indexes) }

    /// `firebase.json`; `nil` if it would be empty.
    fileprivate var configuration: String? {
      let members = [
        rules.map { _ in "\"rules\": \"firestore.rules\"" },
        indexes.map { _ in "\"indexes\": \"firestore.indexes.json\"" },
      ].compactMap(\.self)
      return members.isEmpty ? nil : "{\"firestore\": {\(members.joined(separator: ", "))}}\n"
    }
  }

  /// Writes the folder. It gets its final name only when it is complete and on disk. It then replaces an older backup.
  /// - Parameters:
  ///   - time: the read time of the datastore.
  ///   - progress: called after each document with the document count. If it throws an error, the backup ends.
  /// - Throws: errors of reading the database, and `cannotCreate` if the folder cannot be written or has other
  ///   contents.
  package func write(
    _ companions: Companions, at datastore: any Datastore, _ database: DatabaseID, asOf time: Timestamp?,
    progress: (Int) throws -> Void
  ) async throws -> BackupDescription {
    do {
      let folder = try FolderReplacement(
        of: path, FolderReplacement.Content("backup") { Self.names.contains($0) })
      do {
        let count = try await writeDocuments(into: folder, at: datastore, database, progress: progress)
        let description = BackupDescription(database: database, time: time, documents: count)
        if let rules = companions.rules { try folder.write(Array(rules.utf8), to: "firestore.rules") }
        if let indexes = companions.indexes { try folder.write(Array(indexes.utf8), to: "firestore.indexes.json") }
        if let text = companions.configuration { try folder.write(Array(text.utf8), to: "firebase.json") }
        try folder.write(Array(description.json.utf8), to: "backup.json")
        try folder.commit()
        return description
      } catch {
        folder.discard()
        throw error
      }
    } catch let error as ExportError {
      throw CommandFailure(export: error)
    }
  }

  private func writeDocuments(
    into folder: FolderReplacement, at datastore: any Datastore, _ database: DatabaseID,
    progress: (Int) throws -> Void
  ) async throws -> Int {
    let descriptor = try folder.make(Self.documents)
    do {
      let file = try OutputFile(descriptor, documentFile, .zstd)
      let job = ExportJob(isRecursive: true, format: .jsonl)
      let outcome = try await job.run(at: datastore, database, to: file, progress: progress)
      try file.finish()
      try folder.end(descriptor)
      return outcome.documents
    } catch let error as ExportError {
      // Finishing the file has already closed it.
      throw error
    } catch {
      FolderReplacement.close(descriptor)
      throw error
    }
  }
}

/// The description of a backup, as stored in `backup.json`.
package struct BackupDescription: Hashable, Sendable {
  /// The version of the folder's layout.
  private static let format: Int64 = 1

  package var database: DatabaseID
  /// The read time of the documents; `nil` if each was read at a different time.
  package var time: Timestamp?
  package var documents: Int

  package init(database: DatabaseID, time: Timestamp?, documents: Int) {
    (self.database, self.time, self.documents) = (database, time, documents)
  }

  var json: String {
    var fields =
      [
        "format": .integer(Self.format), "project": .string(database.project), "database": .string(database.database),
        "documents": .integer(Int64(documents)),
      ] as Fields
    if let time { fields["time"] = .string(time.rfc3339Text) }
    return DocumentJSON.text(of: fields) + "\n"
  }

  /// - Parameter name: the file's name in messages.
  /// - Throws: `badData` if the text is invalid, or was written by a later version with another layout.
  init(parsing text: String, name: String) throws(CommandFailure) {
    let json: JSONSyntax
    do throws(JSONError) { json = try JSONSyntax(parsing: text) } catch {
      throw CommandFailure(.badData, "\(name), \(error)")
    }
    guard case .integer(let format)? = json["format"]?.kind, format <= Self.format else {
      throw CommandFailure(.badData, "\(name) is from a later version of hearth, or from another program.")
    }
    guard case .string(let project)? = json["project"]?.kind, case .string(let database)? = json["database"]?.kind,
      case .integer(let documents)? = json["documents"]?.kind
    else { throw CommandFailure(.badData, "\(name) needs the project, the database and the document count.") }
    self.init(database: DatabaseID(project: project, database: database), time: nil, documents: Int(documents))
    if case .string(let text)? = json["time"]?.kind {
      do { time = try InstantText.parse(text) } catch {
        throw CommandFailure(.badData, "\(name): invalid time \"\(text)\".")
      }
    }
  }
}
