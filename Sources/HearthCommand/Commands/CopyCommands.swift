// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import Foundation

/// `hearth copy`: documents at another path too.
struct CopyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copy a document, or the documents of a collection.",
    discussion: """
      A document is copied to a document's path, or into a collection, where it keeps its id; a collection's documents \
      to another collection, or with the collection's id below a document. Without --recursive the subcollections of \
      documents are left out. References to what was copied stay as they are.

      Exit status 5, and nothing is written, if something is at the destination; 4 if there is nothing to copy.

      Example: hearth copy cities archive/2026 --recursive
      """)

  @OptionGroup var paths: CopyPaths

  @Flag(help: "Also copy what is below the documents.")
  var recursive = false

  @OptionGroup var writing: WritingOptions

  mutating func run() async throws {
    try await paths.run(writing, ("copy", "copied"), isRecursive: recursive, isMove: false)
  }
}

/// `hearth move`: documents at another path instead.
struct MoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Move a document, or a collection, with all that is below.",
    discussion: """
      The paths are those of 'hearth copy'. Each document is deleted in the commit that writes it at its new place, so \
      that it is always at one of the places and never at both; one that is changed by others meanwhile stays where it \
      was. If that happened to some, or the move was interrupted, the same command with --overwrite moves the rest.

      Exit status 5, and nothing is written, if something is at the destination; 4 if there is nothing to move; 75 if \
      documents were changed meanwhile and not moved.
      """)

  @OptionGroup var paths: CopyPaths
  @OptionGroup var writing: WritingOptions

  mutating func run() async throws {
    try await paths.run(writing, ("move", "moved"), isRecursive: true, isMove: true)
  }
}

/// What both share.
struct CopyPaths: ParsableArguments {
  @Argument(help: "Path of a document or a collection.")
  var source: String

  @Argument(help: "Where it goes: a document or a collection.")
  var destination: String

  @Flag(help: "Replace documents at the destination; others there stay.")
  var overwrite = false

  /// - Parameter verb: in the infinitive and as the participle.
  func run(
    _ writing: WritingOptions, _ verb: (infinitive: String, participle: String), isRecursive: Bool, isMove: Bool
  ) async throws {
    let source = try DataPath.any(source)
    let destination = DocumentCopy.destination(of: source, try DataPath.any(destination))
    let connection = try writing.connect()
    let copy = DocumentCopy(
      datastore: connection.datastore, database: connection.database, source: source, destination: destination,
      isRecursive: isRecursive, isMove: isMove, overwrites: overwrite)
    try copy.check()
    let isQuiet = writing.headless.quiet
    let outcome: (done: BulkWriter.Outcome, elapsed: Duration)
    do {
      outcome = try await writing.timeLimit.limitWrites {
        var progress = TransferProgress(isQuiet: isQuiet)
        defer { progress.end() }
        let done = try await copy.run { progress.show($0) }
        return (done, progress.elapsed)
      }
    } catch let interruption as BulkWriter.Interruption {
      throw interruption.failure(verb.participle)
    }
    try report(outcome.done, outcome.elapsed, verb.participle, to: destination, writing)
  }

  private func report(
    _ outcome: BulkWriter.Outcome, _ elapsed: Duration, _ participle: String, to destination: ResourcePath,
    _ writing: WritingOptions
  ) throws {
    let pace = TransferProgress.summary(outcome.written, in: elapsed)
    writing.headless.note("\(outcome.written.documents) \(participle) to \(destination) in \(pace).")
    if writing.json {
      try OutputFile.print("{\"documents\": \(outcome.written), \"skipped\": \(outcome.skipped.count)}\n")
    }
    guard let first = outcome.skipped.first else { return }
    throw CommandFailure(
      .tryAgain,
      "\(outcome.skipped.count.documents) had been changed meanwhile, or written at the destination, and were not "
        + "\(participle): the first is \(first.key.path).")
  }
}
