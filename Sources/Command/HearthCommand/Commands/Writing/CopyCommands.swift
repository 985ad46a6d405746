// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import Foundation

/// `hearth copy`: writes documents also to another path, or to another database.
struct CopyCommand: AsyncParsableCommand, WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copy a document, or the documents of a collection, to another database too.",
    usage: """
      hearth copy <source> <destination> [--recursive] [<options>]
      hearth copy <source>|/ [<destination>] --to-data <dir>|--to-emulator <host:port>|... [--recursive] [<options>]
      """,
    discussion: """
      A document is copied to a document's path, or into a collection, where it keeps its id; a collection's documents \
      to another collection, or with the collection's id below a document. Without --recursive the subcollections of \
      documents are left out.

      With an option that begins with --to- the copy is written to another database, at the same path if no other is \
      named; / is all of it. What these options do not name is as at the source. References into the database of the \
      source become references into the other one; else references stay as they are.

      The documents are copied as they are when the command begins, whatever others write meanwhile, or with --live each \
      as it is when its turn comes. With --at they are copied as they were at that time, to their own path as well: this \
      brings back what was changed or deleted. An interrupted copy says how far it came; the same command with --overwrite completes it.

      Exit status 5, and nothing is written, if something is at the destination; 4 if there is nothing to copy.

      Examples: hearth copy cities archive/2026 --recursive; hearth copy / --to-data backup --recursive; \
      hearth copy cities/SF cities/SF --at -10m --overwrite
      """)

  @OptionGroup var paths: CopyPaths

  @Flag(help: "Also copy what is below the documents.")
  var recursive = false

  @OptionGroup var wholeness: WholenessOptions
  @OptionGroup var destination: DestinationOptions
  @OptionGroup var writing: WritingOptions

  var storage: StorageOptions { writing.storage }
  var writes: Bool { !paths.dryRun }

  mutating func run() async throws {
    let run = CopyRun(
      paths: paths, writing: writing, destination: destination, verb: ("copy", "copied"), isRecursive: recursive,
      isMove: false, wholeness: wholeness)
    try await run.run()
  }
}

/// `hearth move`: writes documents to another path, or to another database, and deletes them at the source.
struct MoveCommand: AsyncParsableCommand, WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Move a document, or a collection, with all that is below, to another database too.",
    usage: """
      hearth move <source> <destination> [<options>]
      hearth move <source>|/ [<destination>] --to-data <dir>|--to-emulator <host:port>|... [<options>]
      """,
    discussion: """
      Paths and destinations are those of 'hearth copy'. Inside of a database each document is deleted in the commit that \
      writes it at its new place, so that it is always at one of the places and never at both; to another database it is \
      written first and deleted then. One that is changed by others meanwhile stays where it was. If that happened to \
      some, or the move was interrupted, the same command with --overwrite moves the rest.

      Exit status 5, and nothing is written, if something is at the destination; 4 if there is nothing to move; 75 if \
      documents were changed meanwhile and not moved.
      """)

  @OptionGroup var paths: CopyPaths
  @OptionGroup var destination: DestinationOptions
  @OptionGroup var writing: WritingOptions

  var storage: StorageOptions { writing.storage }
  var writes: Bool { !paths.dryRun }

  mutating func run() async throws {
    let run = CopyRun(
      paths: paths, writing: writing, destination: destination, verb: ("move", "moved"), isRecursive: true,
      isMove: true, wholeness: nil)
    try await run.run()
  }
}

/// The arguments that both commands share.
struct CopyPaths: ParsableArguments {
  @Argument(help: "Path of a document or a collection; / for all of a database, to another one.")
  var source: String

  @Argument(help: "Where it goes: a document or a collection; in another database the same path, unless named.")
  var destination: String?

  @Flag(help: "Replace documents at the destination; others there stay.")
  var overwrite = false

  @Flag(help: "Only say how many documents there are to be written.")
  var dryRun = false
}

/// One run of `hearth copy` or `hearth move`.
struct CopyRun {
  let paths: CopyPaths
  let writing: WritingOptions
  let destination: DestinationOptions
  /// The verb in the infinitive and as the participle.
  let verb: (infinitive: String, participle: String)
  let isRecursive: Bool
  let isMove: Bool
  /// The options for the time as of which the source is read; `nil` reads each document when its turn comes.
  let wholeness: WholenessOptions?

  /// The time that a user named.
  private var time: Timestamp? { wholeness?.moment.at }

  func run() async throws {
    let copy = try await copy()
    let isQuiet = writing.headless.quiet
    if paths.dryRun {
      let count = try await writing.timeLimit.limit {
        var progress = TransferProgress(isQuiet: isQuiet)
        defer { progress.end() }
        return try await copy.count { progress.show($0) }
      }
      return try reportDry(count, copy)
    }
    let outcome: (done: BulkWriter.Outcome, elapsed: Duration)
    let (done, advice) = (verb.participle.capitalized, "with --overwrite the same command goes on")
    do {
      outcome = try await writing.timeLimit.limitWrites {
        var progress = TransferProgress(isQuiet: isQuiet) { "\(done) so far: \($0) or more; \(advice)." }
        defer { progress.end() }
        let done = try await copy.run { progress.show($0) }
        return (done, progress.elapsed)
      }
    } catch let interruption as BulkWriter.Interruption {
      throw interruption.failure(verb.participle, advice: advice)
    }
    try report(outcome.done, outcome.elapsed, copy)
  }

  private func copy() async throws -> DocumentCopy {
    let here = writing.storage.locations
    let (source, destination) = try places()
    try here.requireData()
    let connection = try here.connect()
    let past = try await wholeness?.view(of: connection) { writing.headless.note(ShownText($0)) } ?? connection
    var copy = DocumentCopy(
      source: DocumentCopy.Place(datastore: past.datastore, database: past.database, path: source),
      destination: DocumentCopy.Place(
        datastore: connection.datastore, database: connection.database, path: destination),
      isElsewhere: time != nil, isRecursive: isRecursive, isMove: isMove, overwrites: paths.overwrite)
    if self.destination.isNamed {
      let there = try self.destination.locations(from: here)
      let target =
        there.backend == here.backend
        ? try connection.sibling(there.database, of: here.backend) : try there.connect()
      (copy.destination.datastore, copy.destination.database) = (target.datastore, target.database)
      if there.backend != here.backend || there.database != here.database { copy.isElsewhere = true }
    }
    try copy.check()
    return copy
  }

  private func places() throws(CommandFailure) -> (source: ResourcePath, destination: ResourcePath) {
    let source = try DataPath.orRoot(paths.source)
    guard let named = paths.destination else {
      if destination.isNamed || time != nil { return (source, source) }
      throw CommandFailure(
        .usage, "name where \(source.isRoot ? "all of it" : source.text) goes: a path, or a --to- option.")
    }
    let path = try DataPath.orRoot(named)
    if source.isRoot || path.isRoot {
      if source == path { return (source, path) }
      throw CommandFailure(.usage, "a whole database goes to the root of another one, and nothing else does.")
    }
    return (source, DocumentCopy.destination(of: source, path))
  }

  // MARK: Reports

  /// The destination in words for people.
  private func place(_ copy: DocumentCopy) -> String {
    let path = copy.destination.path
    guard destination.isNamed, let there = try? destination.locations(from: writing.storage.locations) else {
      return path.isRoot ? "the whole database" : path.text
    }
    return (path.isRoot ? "" : "\(path) of ") + destination.name(there)
  }

  private func reportDry(_ count: Int, _ copy: DocumentCopy) throws {
    writing.headless.note("\(count.documents) would be \(verb.participle) to \(place(copy)).")
    if writing.json { try OutputFile.print(data: "{\"documents\": \(count), \"dryRun\": true}\n") }
  }

  private func report(_ outcome: BulkWriter.Outcome, _ elapsed: Duration, _ copy: DocumentCopy) throws {
    let pace = TransferProgress.summary(outcome.written, in: elapsed)
    writing.headless.note("\(outcome.written.documents) \(verb.participle) to \(place(copy)) in \(pace).")
    if writing.json {
      try OutputFile.print(data: "{\"documents\": \(outcome.written), \"skipped\": \(outcome.skipped.count)}\n")
    }
    guard let first = outcome.skipped.first else { return }
    throw CommandFailure(
      .tryAgain,
      "\(outcome.skipped.count.documents) had been changed meanwhile, or written at the destination, and were not "
        + "\(verb.participle): the first is \(first.key.path).")
  }
}
