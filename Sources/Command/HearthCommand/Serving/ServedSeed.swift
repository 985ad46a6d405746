// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import CommandTransfer
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import Foundation

/// The documents of `serve --seed`. They are imported into an empty database, from a file in any format that `hearth
/// import` reads.
struct ServedSeed {
  private let file: String
  private let database: DatabaseID

  /// - Parameters:
  ///   - file: the path of the file or folder; `nil` for none.
  ///   - project: the project in the options.
  /// - Throws: `CommandFailure` if there is no project.
  init?(_ file: String?, project: String?, environment: [String: String]) throws(CommandFailure) {
    guard let file else { return nil }
    guard let project = project ?? environment["GOOGLE_CLOUD_PROJECT"] ?? environment["GCLOUD_PROJECT"] else {
      throw CommandFailure(.usage, "--seed needs the project that your program uses. Add --project-id PROJECT.")
    }
    (self.file, database) = (file, DatabaseID(project: project))
  }

  /// Imports the documents, unless the database already contains documents.
  /// - Throws: the error of the first document that cannot be imported.
  func fill(_ data: PortSource) async throws {
    let datastore = data.datastore(for: database)
    guard try await datastore.listCollectionIDs(below: .root).isEmpty else {
      StandardError.write("hearth: \(database.name) has documents, so \(file) is not imported.")
      return
    }
    let documents = BackupFolder.documents(at: file)
    let job = ImportJob(
      file: documents, format: TransferFormat(input: documents), rules: ImportRules(database: database, idField: nil),
      backend: "served", isFormatGiven: false)
    let start = ContinuousClock.now
    do {
      let outcome = try await job.run(
        into: { datastore }, note: { StandardError.write("hearth: \($0)") }, reject: { _ in },
        progress: { _, _, _ in })
      let pace = TransferProgress.summary(outcome.done.documents, in: .now - start)
      StandardError.write("hearth: \(outcome.done.documents.documents) imported into \(database.name) in \(pace).")
    } catch let failure as ImportJob.Failure {
      switch failure.error {
      case let error as JSONError: throw CommandFailure(.badData, "\(file), \(error)")
      case let reason as Rejection.Reason: throw CommandFailure(.badData, "\(file), \(reason.text)")
      default: throw failure.error
      }
    }
  }
}
