// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import FirestoreText
import Foundation
import Glibc

/// `hearth diff`: the differences between two databases, collections or files.
package struct DiffCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Compare two databases, collections, documents, files or times, field by field.",
    usage: """
      hearth diff <before> <after> [<options>]
      hearth diff <path> --at <time> [<options>]
      """,
    discussion: """
      A side is a file from 'hearth export' (- for standard input), another database, or a path in the current \
      database (/ for all of it). Another database is a folder of the embedded backend's data, connection:NAME, \
      emulator:HOST:PORT or cloud:PROJECT, alone or followed by /PATH. Subcollections are compared too. With two \
      paths, documents match if their paths below the two sides are equal: cities/SF and archive/SF in 'hearth diff \
      cities archive'. With one path, both sides are compared below it. Files are held in memory; they may be \
      compressed.

      Every side except a file can end with a time, as in cities@-10m or cities@2026-03-02T11:58:03Z, to compare one \
      database at two times. --at compares one path at that time with its current state. The embedded backend keeps \
      earlier versions for one hour, up to 64 MiB. Cloud Firestore keeps them for one hour, or with point-in-time \
      recovery for one week at whole minutes.

      A document that is only on the first side is marked with -, one only on the second with +, and a different one \
      with ~ and its fields. With --json, each line is an object with path, type (removed, added, modified), and data \
      or fields.

      Exit status: 0 if both sides are equal, 1 if they differ, 4 if neither has anything at the path, 70 for failures \
      without another status.

      Examples: hearth diff backup.jsonl / && echo "nothing has changed"; hearth diff orders --at -5m; hearth diff \
      orders connection:prod
      """)

  @Argument(
    help: ArgumentHelp(
      "File, path, ./FOLDER, connection:NAME, emulator:HOST:PORT or cloud:PROJECT. All except a file can be followed "
        + "by /PATH and @TIME.", valueName: "place"))
  var before: String

  @Argument(help: "The second side of the comparison; omit it with --at.")
  var after: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Compare the state of one path at a past time (-10m: ten minutes ago) with its current state.", valueName: "time"),
    transform: { try MomentText.parse($0) })
  var at: Timestamp?

  @Flag(help: "Print JSON, one object per line.")
  var json = false

  @OptionGroup var timeLimit: TimeLimitOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  package init() {}

  package mutating func run() async throws {
    do {
      let outcome = try await compare()
      report(outcome)
      if outcome.differs { throw ExitCode(1) }
    } catch let status as RPCStatus {
      throw Self.distinct(CommandFailure(status))
    } catch let failure as CommandFailure {
      throw Self.distinct(failure)
    }
  }

  private func compare() async throws -> Comparison.Outcome {
    if before == "-", after == "-" { throw CommandFailure(.usage, "standard input can be only one side.") }
    let locations = storage.locations
    let (before, after) = try sides(in: locations)
    let paths: (before: ResourcePath, after: ResourcePath)
    var comparison = Comparison(prefixes: (0, 0))
    if let one = before.path, let other = after.path {
      if one.isDocument != other.isDocument {
        throw CommandFailure(
          .usage, "cannot compare \(one) and \(other): one is a document, the other a collection.")
      }
      paths = (one, other)
      comparison = Comparison(prefixes: (one.count, other.count))
    } else {
      let common = before.path ?? after.path ?? .root
      paths = (common, common)
    }
    let (json, isQuiet) = (json, headless.quiet)
    let outcome = try await timeLimit.limit { [comparison] in
      let output = OutputFile.standard()
      var progress = TransferProgress(isQuiet: isQuiet)
      defer { progress.end() }
      let isShown = isatty(STDOUT_FILENO) == 1
      let outcome = try await comparison.run(
        try before.documents(below: paths.before, in: locations.database),
        try after.documents(below: paths.after, in: locations.database)
      ) { difference in
        if isShown { progress.end() }
        if json {
          try output.data(line: difference.json)
        } else {
          for line in difference.lines { try output.line(line) }
        }
        if isShown { try output.flush() }
      } progress: {
        progress.show($0)
      }
      try output.flush()
      return outcome
    }
    // Both sides can be empty because of a mistyped name.
    if outcome.count == 0, !paths.before.isRoot {
      let names = paths.before == paths.after ? "\(paths.before)" : "\(paths.before) or \(paths.after)"
      throw CommandFailure(.notFound, "neither side has a document at \(names). Nothing was compared.")
    }
    return outcome
  }

  private func sides(in locations: StorageOptions.Locations) throws(CommandFailure) -> (ComparedSide, ComparedSide) {
    let before = try ComparedSide(self.before, in: locations)
    switch (after, at) {
    case (let after?, nil): return (before, try ComparedSide(after, in: locations))
    case (nil, let at?): return (try before.at(at), before)
    case (_?, _?):
      throw CommandFailure(.usage, "--at needs one path. With two, add the time to a path: cities@-10m.")
    case (nil, nil):
      throw CommandFailure(
        .usage, "name a second side, or a time: hearth diff \(self.before) --at -10m")
    }
  }

  private func report(_ outcome: Comparison.Outcome) {
    if !outcome.differs {
      headless.note("\(outcome.equal.documents), all equal.")
    } else {
      headless.note(
        "\(outcome.removed) only in the first, \(outcome.added) only in the second, \(outcome.modified) different, "
          + "\(outcome.equal) equal.")
    }
  }

  /// Replaces exit status 1 of a failure, because this status means that the two sides differ.
  private static func distinct(_ failure: CommandFailure) -> CommandFailure {
    var failure = failure
    if failure.status == .failure { failure.status = .software }
    return failure
  }
}
