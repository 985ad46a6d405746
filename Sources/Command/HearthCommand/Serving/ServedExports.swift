// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreBackend
import FirestoreEmulator
import FirestoreExports
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import FirestoreService
import FirestoreSharing
import Foundation

/// The exports in Google's format that a server imports at its start and writes at its end.
struct ServedExports {
  private let imported: String?
  private let exported: String?
  /// The project in the options; `nil` to use the project of the import.
  private let project: String?
  /// The database that contains the import's first document.
  private let source: DatabaseID?

  /// Detects all errors that can be detected before the server starts. An import is read completely, so that the server
  /// never starts with a part of it.
  init(_ options: EmulatorOptions, environment: [String: String]) throws {
    imported = options.importData
    exported = options.exportOnExit.map { folder in
      options.exportName.map { "\(folder)/\($0)" } ?? Self.place(in: folder)
    }
    var source: DatabaseID?
    do {
      if let imported {
        var reader = try ExportReader(imported)
        while let record = try reader.next() {
          let document = try record.document()
          if source == nil { source = document.database }
        }
      }
      if let exported, let folder = options.exportOnExit {
        if options.exportName != nil, mkdir(folder, 0o777) != 0, errno != EEXIST {
          throw CommandFailure(.cannotCreate, "\(folder) cannot be created: \(String(cString: strerror(errno))).")
        }
        // The writer is discarded immediately. It only detects failures that would be too late at the end.
        _ = try ExportWriter(exported, DatabaseID(project: "p"), begin: .now)
      }
    } catch let error as ExportError {
      throw CommandFailure(export: error)
    }
    self.source = source
    project =
      options.projectID ?? source?.project ?? environment["GOOGLE_CLOUD_PROJECT"] ?? environment["GCLOUD_PROJECT"]
    if exported != nil, project == nil {
      throw CommandFailure(
        .usage, "--export-on-exit writes the data of one project. Add --project-id PROJECT.")
    }
  }

  /// The folder with Firestore's documents. In an export of the Firebase CLI, this is a subfolder. Other folders are
  /// returned unchanged.
  private static func place(in folder: String) -> String {
    let file = URL(filePath: folder).appending(path: "firebase-export-metadata.json")
    guard let text = try? String(contentsOf: file, encoding: .utf8) else { return folder }
    // The usual name replaces an unreadable entry.
    let json = try? JSONSyntax(parsing: text)
    guard case .string(let name)? = json?["firestore"]?["path"]?.kind, !name.isEmpty, !name.contains("/") else {
      return "\(folder)/firestore_export"
    }
    return "\(folder)/\(name)"
  }

  /// The database into which documents are imported. It has the database id of the export and the project in the
  /// options.
  private var database: DatabaseID {
    DatabaseID(project: project ?? "", database: source?.database ?? "(default)")
  }

  // MARK: Import

  /// Imports the documents into an empty database.
  /// - Parameter isKept: whether the data is stored in a folder and may already exist.
  func begin(with data: PortSource, isKept: Bool) async throws {
    guard let imported, source != nil else { return }
    let (target, datastore) = (database, data.datastore(for: database))
    if isKept, !(try await datastore.listCollectionIDs(below: .root).isEmpty) {
      throw CommandFailure(
        .alreadyExists,
        "\(target.name) has documents, but --import-data needs an empty database. Remove --import-data or --data, "
          + "or merge them with 'hearth import'.")
    }
    let job = ImportJob(
      file: imported, format: .google, rules: ImportRules(database: target, collection: nil, idField: nil),
      backend: "served")
    let start = ContinuousClock.now
    do {
      let outcome = try await job.run(
        into: { datastore }, note: { _ in }, reject: { _ in }, progress: { _, _, _ in })
      let pace = TransferProgress.summary(outcome.done.documents, in: .now - start)
      StandardError.write("hearth: \(outcome.done.documents.documents) imported into \(target.name) in \(pace).")
    } catch let failure as ImportJob.Failure {
      let reason = (failure.error as? Rejection.Reason).map { CommandFailure(.badData, $0.text) }
      throw reason ?? failure.error
    }
  }

  // MARK: Export

  /// Writes the export if one is requested.
  func end(with data: PortSource) async throws {
    guard let exported else { return }
    let start = ContinuousClock.now
    let count = try await write(data, to: exported)
    let pace = TransferProgress.summary(count, in: .now - start)
    StandardError.write("hearth: \(count.documents) of \(database.name) exported to \(exported) in \(pace).")
  }

  private func write(_ data: PortSource, to folder: String) async throws -> Int {
    var own: LocalBackend?
    switch data {
    case .memory(let backend): own = backend
    case .shared(let shared): if case .own(let backend) = try await shared.access().0 { own = backend }
    }
    if let own {
      do { return try await FirestoreService(backend: own).export(database, to: folder) } catch let status as RPCStatus
      {
        throw CommandFailure(.cannotCreate, status.message)
      }
    }
    // Another process holds the data, so it is read at one read time.
    let past = PastDatastore(base: data.datastore(for: database), time: SnapshotVersion(.now))
    let job = ExportJob(roots: nil, isRecursive: true, format: .google)
    return try await job.run(at: past, database, toFolder: folder) { _ in }.documents
  }
}

extension PortSource {
  func datastore(for database: DatabaseID) -> any Datastore {
    switch self {
    case .memory(let backend): InProcessDatastore(backend: backend, database: database)
    case .shared(let data): data.datastore(for: database)
    }
  }
}
