// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import DashboardHost
import FirestoreGRPC
import FirestoreJSON
import FirestoreModel

import struct Hearth.FirestoreError
import enum Hearth.IndexConfigurationReader

/// `hearth deployed`: what a server has for a database beside its documents.
struct DeployedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deployed", abstract: "Read the indexes, lifetimes and rules that a server has, or compare them.",
    discussion: """
      Nothing is changed at the server: what would change it is printed, with --requests, as requests to send.
      """,
    subcommands: [DeployedIndexesCommand.self, DeployedLifetimesCommand.self, DeployedRulesCommand.self])
}

/// `hearth deployed indexes`.
struct DeployedIndexesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "indexes", abstract: "Print a server's composite indexes and field overrides.",
    discussion: """
      Prints them as a firestore.indexes.json. With --compare FILE nothing is printed but what differs: - is at the \
      server alone, + in the file alone; exit status 1 if anything does. With --requests, too, a line for the shell for \
      each index and override that the server lacks: it asks gcloud for a token. Nothing is sent, and what only the \
      server has is never deleted by them.

      Cloud Firestore tells those of the project (roles/datastore.indexAdmin, or viewer), 'hearth serve' those of its \
      --require-indexes. The cache's own indexes are those of 'hearth cache indexes'.

      Example: hearth deployed indexes --cloud --project my-app --compare firestore.indexes.json --requests
      """)

  @Option(help: ArgumentHelp("Say what differs from this firestore.indexes.json.", valueName: "file"))
  var compare: String?

  @Flag(help: "With --compare: print the requests that would make what the server lacks.")
  var requests = false

  @OptionGroup var timeLimit: TimeLimitOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  func validate() throws {
    if requests, compare == nil {
      throw ValidationError("--requests needs --compare FILE: what the server should have.")
    }
  }

  mutating func run() async throws {
    let locations = storage.locations
    let server = try DeployedPlace.server(of: locations)
    let wanted = try compare.map { file in
      let text = try DocumentArgument.text(ofFile: file)
      let name = file == "-" ? "standard input" : file
      do throws(FirestoreError) { _ = try IndexConfigurationReader.read(text) } catch {
        throw CommandFailure(.badData, "\(name): \(error.message)")
      }
      return try IndexDeployment(file: text, name: name)
    }
    let deployed = try await timeLimit.limit { try await IndexDeployment(of: locations.database, at: server) }
    guard let wanted else {
      try OutputFile.print(data: deployed.configuration)
      if deployed.indexes.isEmpty, deployed.overrides.isEmpty {
        headless.note("there is no composite index and no override in \(locations.database.text).")
      }
      return
    }
    let (removed, added) = deployed.difference(to: wanted)
    let output = OutputFile.standard()
    for line in removed { try output.line("- \(ShownText(line))") }
    for line in added { try output.line("+ \(ShownText(line))") }
    if requests {
      for request in wanted.requests(beyond: deployed, in: locations.database, at: server) {
        try output.line(ShownText(request.curl))
      }
    }
    try output.flush()
    if !removed.isEmpty || !added.isEmpty { throw ExitCode(1) }
  }
}

/// `hearth deployed ttl`.
struct DeployedLifetimesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ttl", abstract: "List the fields by which a server lets documents expire.",
    discussion: """
      One COLLECTION.FIELD and its state per line. With --json a line is an object with collectionGroup, fieldPath and \
      state; --csv, --tsv and --template have the same names. No server of Hearth lets documents expire.
      """)

  @OptionGroup var formatting: RowFormatOptions
  @OptionGroup var timeLimit: TimeLimitOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  private static let names = ["collectionGroup", "fieldPath", "state"]

  mutating func run() async throws {
    let locations = storage.locations
    let server = try DeployedPlace.server(of: locations)
    let format = try formatting.format(Self.names, or: .lines)
    let lifetimes = try await timeLimit.limit {
      try await IndexDeployment.lifetimes(of: locations.database, at: server)
    }
    var printer = RowPrinter(format, Self.names, to: .standard())
    for lifetime in lifetimes {
      let values = [lifetime.collectionGroup, lifetime.path, lifetime.lifetimeState ?? ""]
      let members = zip(Self.names, values).map { "\"\($0)\": \(DocumentLine.quoted($1))" }
      try printer.print(
        ListedRow(
          cells: zip(Self.names, values).map { ListedRow.Cell($0, $1) }, json: "{\(members.joined(separator: ", "))}",
          line: ShownText("\(values[0]).\(values[1])  \(values[2])")))
    }
    try printer.finish()
    if lifetimes.isEmpty { headless.note("no document of \(locations.database.text) expires.") }
  }
}

/// `hearth deployed rules`.
struct DeployedRulesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rules", abstract: "Print the security rules that a server enforces.",
    discussion: """
      With --compare FILE nothing is printed but whether they are the same, exit status 1 if they are not; with \
      --requests, too, the two requests that would release the file, as lines for the shell. Nothing is sent.

      Cloud Firestore tells the rules that its project has released (roles/firebaserules.viewer), 'hearth serve' and \
      Google's emulator those that they enforce. Exit status 4 if there are none.

      Example: hearth deployed rules --cloud --project my-app >firestore.rules
      """)

  @Option(help: ArgumentHelp("Say whether this file of rules is the same.", valueName: "file"))
  var compare: String?

  @Flag(help: "With --compare: print the requests that would release the file.")
  var requests = false

  @OptionGroup var timeLimit: TimeLimitOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  func validate() throws {
    if requests, compare == nil { throw ValidationError("--requests needs --compare FILE: the rules to release.") }
  }

  mutating func run() async throws {
    let locations = storage.locations
    let wanted = try compare.map { try DocumentArgument.text(ofFile: $0) }
    let server = try DeployedPlace.server(of: locations)
    let text = try await timeLimit.limit { try await DeployedPlace.rules(of: locations, at: server) }
    guard let wanted else {
      guard let text else { throw CommandFailure(.notFound, "\(locations.database.text) has no rules there.") }
      return try OutputFile.print(data: text.hasSuffix("\n") ? text : text + "\n")
    }
    let isSame = text == wanted
    let output = OutputFile.standard()
    try output.line(
      isSame ? "the same" : text == nil ? "the server has no rules" : ShownText("the server's rules are others"))
    if requests, !isSame {
      for request in DeployedRules.requests(releasing: wanted, in: locations.database, at: server) {
        try output.line(ShownText(request.curl))
      }
    }
    try output.flush()
    if !isSame { throw ExitCode(1) }
  }
}

/// The server that says what is deployed.
enum DeployedPlace {
  /// - Throws: `usage` for data of this machine, which has none of it.
  static func server(of locations: StorageOptions.Locations) throws(CommandFailure) -> AdministrationCall {
    guard case .remote(let remote) = locations.backend else {
      throw CommandFailure(
        .usage,
        "the data of this machine has no indexes, lifetimes or rules of its own: name a server with --cloud or --emulator "
          + "HOST:PORT.")
    }
    return AdministrationCall(remote.endpoint, remote.credentials, isTrusting: remote.allowsInsecureCredentials)
  }

  /// The rules in force; `nil` if there are none.
  /// - Throws: `badData` for rules of several files, which would not be one text.
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
