// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol

/// `hearth restore`: what `hearth backup` wrote.
package struct RestoreCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Bring back what 'hearth backup' wrote.",
    discussion: """
      Writes the documents of the folder over those of the same paths; others stay: 'hearth clear' before it empties \
      the database. Rules go to a server that takes them ('hearth serve', Google's emulator), unless --no-rules is \
      said. Where nothing takes rules or indexes, it is said which file they are in and what takes it.

      One that was interrupted goes on where it was when the same command is given again, as 'hearth import' does.

      Exit status: 65 if the folder does not hold what it says, 66 if it is no backup.
      """)

  @Argument(help: ArgumentHelp("A folder that 'hearth backup' wrote.", valueName: "dir"))
  var folder: String

  @Flag(help: "Leave the server's rules as they are.")
  var noRules = false

  @Flag(help: "Check every document, and write nothing at all.")
  var dryRun = false

  @OptionGroup var headless: HeadlessOptions
  @OptionGroup package var storage: StorageOptions

  package var writes: Bool { !dryRun }

  package init() {}

  package mutating func run() async throws {
    let locations = storage.locations
    let backup = BackupFolder(folder)
    let description = try backup.description()
    let count = try await importDocuments(backup, locations)
    guard count == description.documents else {
      throw CommandFailure(
        .badData, "\(folder) should hold \(description.documents.documents), and \(count.documents) were found in it.")
    }
    let moment = description.time.map { " as of \($0.rfc3339Text)" } ?? ""
    let verb = dryRun ? "can be restored" : "restored"
    headless.note(ShownText("\(count.documents) of \(description.database.text)\(moment) \(verb)."))
    try await restoreRules(backup, locations)
    if let file = backup.indexFile {
      let way =
        locations.isCloud
        ? "'firebase deploy --only firestore:indexes' in \(folder) makes them"
        : "'hearth serve --require-indexes \(file)' asks for them, 'hearth cache indexes --set \(file)' makes those of the cache"
      headless.note(ShownText("indexes: \(way)."))
    }
  }

  private func importDocuments(
    _ backup: BackupFolder, _ locations: StorageOptions.Locations
  ) async throws -> Int {
    let job = ImportJob(
      file: backup.documentFile, format: .jsonl,
      rules: ImportRules(database: locations.database, collection: nil, idField: nil),
      backend: "\(locations.backend)", state: dryRun ? nil : ImportJob.state(of: backup.path),
      badDocuments: dryRun ? .check : .stop)
    let (headless, isDry) = (headless, dryRun)
    var progress: TransferProgress?
    do {
      let outcome = try await job.run(
        into: { try locations.connect().datastore }, note: { headless.note(ShownText($0)) },
        reject: { headless.note("\(job.name), \($0)") },
        progress: { point, fraction, first in
          if progress == nil {
            let interruption: @Sendable (Int) -> String = { "Restored so far: \($0); the same command goes on." }
            progress = TransferProgress(
              isQuiet: headless.quiet, from: first, interruption: isDry ? nil : interruption)
          }
          progress?.show(point.documents, fraction: fraction)
        })
      progress?.end()
      if outcome.done.rejected > 0 {
        throw CommandFailure(.badData, "\(backup.documentFile): \(outcome.done.rejected.documents) cannot be restored.")
      }
      return outcome.done.documents
    } catch let stopped as ImportJob.Failure {
      progress?.end()
      throw Self.failure(stopped, of: backup, isDry: isDry)
    }
  }

  private static func failure(_ stopped: ImportJob.Failure, of backup: BackupFolder, isDry: Bool) -> any Error {
    let written = isDry ? "" : " Restored before it: \(stopped.done.documents.documents)."
    switch stopped.error {
    case let reason as Rejection.Reason:
      return CommandFailure(.badData, "\(backup.documentFile), \(reason.text)\(written)")
    case let status as RPCStatus: return CommandFailure(ExitStatus(status), "\(status)\(written)")
    case let failure as CommandFailure: return CommandFailure(failure.status, failure.message + written)
    case is CancellationError: return stopped.error
    default: return CommandFailure(.badData, "\(backup.documentFile), \(stopped.error)\(written)")
    }
  }

  private func restoreRules(_ backup: BackupFolder, _ locations: StorageOptions.Locations) async throws {
    guard let file = backup.rulesFile, !noRules else { return }
    if let control = EmulatorControl(of: locations.backend) {
      let text = try DocumentArgument.text(ofFile: file)
      if dryRun { return headless.note("rules: the server's would be replaced.") }
      try await ServedRuleset(control, locations.database.project).replace(by: text)
      return headless.note("rules: the server enforces those of the backup.")
    }
    let way =
      locations.isCloud
      ? "'firebase deploy --only firestore:rules' in \(folder) takes them"
      : "'hearth serve --rules \(file)' enforces them"
    headless.note(ShownText("rules: \(way)."))
  }
}
