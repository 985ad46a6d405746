// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreGRPC
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import Glibc

import struct Hearth.FirestoreError
import struct Hearth.IndexConfiguration

/// `hearth backup`: writes the documents, rules and indexes of a database to a folder.
package struct BackupCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Write a whole database to a folder, with its rules and indexes.",
    discussion: """
      The folder has the documents in documents.jsonl.zst, which 'hearth import' and 'hearth diff' also read. Rules \
      and indexes are in files with the names that Google's tools use, and a firebase.json lists these files. \
      backup.json has the database, the time and the document count. The folder appears when it is complete, and \
      replaces an older backup. A folder with other contents is never replaced.

      Rules and indexes come from the server, or from --rules and --indexes; data on this machine has none. If a \
      server does not return them, a message says so. 'hearth restore' restores everything except the rules and \
      indexes of Cloud Firestore: for these, run 'firebase deploy' in the folder.

      The backup is a snapshot of one moment, as in 'hearth export'. Exit status: 65 if data, rules or indexes cannot \
      be read, 69 if the server cannot be reached, 73 and 74 if the folder cannot be written.
      """)

  @Argument(help: ArgumentHelp("The folder to write.", valueName: "dir"))
  var folder: String

  @Option(help: ArgumentHelp("File of security rules to include in the backup.", valueName: "file"))
  var rules: String?

  @Option(
    help: ArgumentHelp(
      "File of index definitions (firestore.indexes.json) to include in the backup.", valueName: "file"))
  var indexes: String?

  @OptionGroup var wholeness: WholenessOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  package init() {}

  package mutating func run() async throws {
    // Other users must not read copies of the data.
    umask(0o077)
    let locations = storage.locations
    var companions = BackupFolder.Companions()
    companions.rules = try rules.map { try Self.rules(in: $0) }
    companions.indexes = try indexes.map { try Self.indexes(in: $0, headless) }
    try locations.requireData()
    let isServed = companions.rules == nil
    if case .remote = locations.backend { try await addDeployed(to: &companions, locations) }
    let connection = try await wholeness.view(of: try locations.connect()) { headless.note(ShownText($0)) }
    let time = (connection.datastore as? PastDatastore)?.time.timestamp
    var progress = TransferProgress(isQuiet: headless.quiet)
    let written: BackupDescription
    do {
      written = try await BackupFolder(folder).write(
        companions, at: connection.datastore, connection.database, asOf: time
      ) { progress.show($0) }
      progress.end()
    } catch {
      progress.end()
      throw error
    }
    let rules = isServed ? "the rules that the server enforces" : "rules"
    let parts = [(companions.rules != nil, rules), (companions.indexes != nil, "indexes")]
    let there = parts.filter(\.0).map(\.1)
    let missing = ["rules", "indexes"].enumerated().filter { !parts[$0.offset].0 }.map { "no \($0.element)" }
    let list = ["\(written.documents.documents)"] + there + missing
    headless.note(
      ShownText("\(list.dropLast().joined(separator: ", ")) and \(list.last ?? "") in \(folder)."))
  }

  /// Adds the server's rules and indexes, unless the options name files for them. If the server does not provide them,
  /// prints a note instead of failing.
  private func addDeployed(
    to companions: inout BackupFolder.Companions, _ locations: StorageOptions.Locations
  ) async throws {
    let server = try DeployedPlace.server(of: locations)
    if companions.rules == nil {
      companions.rules = try await told("rules") { try await DeployedPlace.rules(of: locations, at: server) }
    }
    if companions.indexes == nil {
      companions.indexes = try await told("indexes") {
        let deployed = try await IndexDeployment(of: locations.database, at: server)
        return deployed.indexes.isEmpty && deployed.overrides.isEmpty ? nil : deployed.configuration
      }
    }
  }

  /// - Throws: if the server cannot be reached, or if a backup cannot contain the rules.
  private func told(_ what: String, _ read: () async throws -> String?) async throws -> String? {
    do { return try await read() } catch {
      guard let failure = error as? CommandFailure, failure.status != .unavailable, failure.status != .badData else {
        throw error
      }
      headless.note(ShownText("the server's \(what) are not in the backup: \(failure.message)"))
      return nil
    }
  }

  /// - Throws: `badData` for invalid rules.
  private static func rules(in file: String) throws(CommandFailure) -> String {
    let text = try DocumentArgument.text(ofFile: file)
    let source = try RulesSource(file)
    guard source.ruleset != nil else {
      throw CommandFailure(.badData, source.problems.first ?? "\(file) cannot be used.")
    }
    return text
  }

  private static func indexes(
    in file: String, _ headless: HeadlessOptions
  ) throws(CommandFailure) -> String {
    let text = try DocumentArgument.text(ofFile: file)
    do throws(FirestoreError) {
      for warning in try IndexConfiguration(parsing: text).warnings { headless.note(ShownText("\(file), \(warning)")) }
    } catch {
      throw CommandFailure(.badData, "\(file): \(error.message)")
    }
    return text
  }
}

/// The security rules that a server enforces. They are read and changed with the emulator's control interface.
struct ServedRuleset {
  private let control: EmulatorControl
  private let path: String

  init(_ control: EmulatorControl, _ project: String) {
    self.control = control
    path = "/emulator/v1/projects/\(project):securityRules"
  }

  /// - Returns: `nil` if the server has no rules or does not provide them.
  /// - Throws: `badData` if the rules consist of several files, because a backup has one file for rules.
  func text() async throws -> String? {
    let answer: [UInt8]
    do throws(RPCStatus) { answer = try await control.get(path) } catch {
      if error.code == .unimplemented { return nil }
      throw CommandFailure(error)
    }
    guard let json = try? JSONSyntax(parsing: String(decoding: answer, as: UTF8.self)),
      case .array(let files)? = json["rules"]?["files"]?.kind
    else { return nil }
    let texts = files.compactMap { file -> (name: String, content: String)? in
      guard case .string(let content)? = file["content"]?.kind else { return nil }
      if case .string(let name)? = file["name"]?.kind { return (name, content) }
      return ("", content)
    }
    // The name of the default rules of emulators.
    if texts.isEmpty || texts.contains(where: { $0.name == "OPEN_RULES" }) { return nil }
    guard texts.count == 1 else {
      throw CommandFailure(.badData, "the server's rules are \(texts.count) files; name one with --rules.")
    }
    return texts[0].content
  }

  /// - Throws: the reason why the server rejects the rules.
  func replace(by text: String) async throws {
    let file = JSONSyntax(
      .object([
        JSONSyntax.Member("name", JSONSyntax(.string("firestore.rules"))),
        JSONSyntax.Member("content", JSONSyntax(.string(text))),
      ]))
    let files = JSONSyntax(.object([JSONSyntax.Member("files", JSONSyntax(.array([file])))]))
    let body = JSONSyntax(.object([JSONSyntax.Member("rules", files)])).lineText
    do throws(RPCStatus) { try await control.put(path, body) } catch { throw CommandFailure(error) }
  }
}

/// `hearth restore`: restores a backup.
package struct RestoreCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Restore a backup from 'hearth backup'.",
    discussion: """
      Writes the documents of the folder over documents with the same paths. Other documents stay; run 'hearth clear' \
      first to empty the database. Rules are sent to a server that accepts them ('hearth serve', Google's emulator), \
      unless you add --no-rules. For rules or indexes that the server does not accept, a message names their file and \
      the command that applies it.

      If the database has documents, type the document count at the terminal to confirm, or use --yes. --dry-run \
      checks every document, and writes nothing.

      If a restore is interrupted, the same command continues it, as with 'hearth import'.

      Exit status: 65 if the folder does not match its description, 66 if it is not a backup.
      """)

  @Argument(help: ArgumentHelp("A folder from 'hearth backup'.", valueName: "dir"))
  var folder: String

  @Flag(help: "Leave the server's rules unchanged.")
  var noRules = false

  @OptionGroup var consent: Consent
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup package var storage: StorageOptions

  private var dryRun: Bool { consent.dryRun }
  package var writes: Bool { !dryRun }

  package init() {}

  package mutating func run() async throws {
    let locations = storage.locations
    let backup = BackupFolder(folder)
    let description = try backup.description()
    try await obtainConsent(description, locations)
    let count = try await importDocuments(backup, locations)
    guard count == description.documents else {
      throw CommandFailure(
        .badData, "\(folder) should have \(description.documents.documents), but \(count.documents) were found.")
    }
    let moment = description.time.map { " as of \($0.rfc3339Text)" } ?? ""
    let verb = dryRun ? "can be restored" : "restored"
    headless.note(ShownText("\(count.documents) of \(description.database.text)\(moment) \(verb)."))
    try await restoreRules(backup, locations)
    if let file = backup.indexFile {
      let way =
        locations.isCloud
        ? "'firebase deploy --only firestore:indexes' in \(folder) creates them"
        : "'hearth serve --require-indexes \(file)' requires them, 'hearth cache indexes --set \(file)' creates them in the cache"
      headless.note(ShownText("indexes: \(way)."))
    }
  }

  /// Asks for consent before documents are replaced. Does not ask if the database is empty.
  private func obtainConsent(
    _ description: BackupDescription, _ locations: StorageOptions.Locations
  ) async throws {
    if consent.dryRun || consent.yes { return }
    if try await locations.connect().datastore.listCollectionIDs(below: .root).isEmpty { return }
    try consent.obtain(
      "restore", description.documents,
      in: "\(folder) over the documents of \(locations.database.text) with the same paths")
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
            let interruption: @Sendable (Int) -> String = {
              "Restored so far: \($0); run the command again to continue."
            }
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
    let written = isDry ? "" : " Restored before this error: \(stopped.done.documents.documents)."
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
      if dryRun { return headless.note("rules: the server's rules would be replaced.") }
      try await ServedRuleset(control, locations.database.project).replace(by: text)
      return headless.note("rules: the server enforces the backup's rules.")
    }
    let way =
      locations.isCloud
      ? "'firebase deploy --only firestore:rules' in \(folder) deploys them"
      : "'hearth serve --rules \(file)' enforces them"
    headless.note(ShownText("rules: \(way)."))
  }
}

/// The server that provides the deployed rules and indexes.
enum DeployedPlace {
  /// - Throws: `usage` for local data, because it has no deployed rules or indexes.
  static func server(of locations: StorageOptions.Locations) throws(CommandFailure) -> AdministrationCall {
    guard case .remote(let remote) = locations.backend else {
      throw CommandFailure(
        .usage,
        "data on this machine has no indexes, lifetimes or rules. Name a server with --cloud or --emulator "
          + "HOST:PORT.")
    }
    return AdministrationCall(remote.endpoint, remote.credentials, isTrusting: remote.allowsInsecureCredentials)
  }

  /// The rules that are in effect; `nil` if there are none.
  /// - Throws: `badData` if the rules consist of several files, because they cannot be returned as one text.
  static func rules(of locations: StorageOptions.Locations, at server: AdministrationCall) async throws -> String? {
    if !locations.isCloud, let control = EmulatorControl(of: locations.backend) {
      return try await ServedRuleset(control, locations.database.project).text()
    }
    guard let rules = try await DeployedRules.read(of: locations.database, at: server) else { return nil }
    guard rules.files.count == 1 else {
      let names = rules.files.map(\.name).joined(separator: ", ")
      throw CommandFailure(.badData, "the rules are \(rules.files.count) files: \(names).")
    }
    return rules.files[0].content
  }
}
