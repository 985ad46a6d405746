// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import Foundation

/// `hearth copy`: copies documents to another path or another database.
package struct CopyCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copy a document or a collection and everything below it, also between databases.",
    usage: "hearth copy <place> <place> [--no-recursive] [<options>]",
    discussion: """
      Copies a document to a document's path, or into a collection, where it keeps its id. Copies a collection's \
      documents to another collection, or below a document, where the collection keeps its id. Everything below the \
      documents is copied too. With --no-recursive subcollections are skipped, and a message counts them.

      A source or destination is a path in the current database, or another database: ./FOLDER or data:FOLDER with the \
      embedded backend's data, connection:NAME, emulator:HOST:PORT or cloud:PROJECT. Another database can be followed \
      by /PATH. Without a path it means the whole database as a source, and the same path as a destination. A folder \
      and an emulator have the project and the database of the options, unless you add --to-project and --to-database. \
      References into the source database become references into the destination; other references stay unchanged.

      The copy is a snapshot from the start of the command, without later writes of other clients. With --live each \
      document is copied in its current version. With --at the copy is a snapshot of that time, even to the same path, \
      which restores changed or deleted documents. cities@-10m is the same as cities --at -10m. An interrupted copy \
      prints its progress; the same command with --overwrite completes it.

      Exit status 5, and nothing is written, if the destination is not empty; 4 if there is nothing to copy.

      Examples: hearth copy cities archive/2026; hearth copy / ./backup; hearth copy connection:prod/cities cities; \
      hearth copy cities/SF@-10m cities/SF --overwrite
      """)

  @OptionGroup var paths: CopyPaths

  @Flag(inversion: .prefixedNo, help: "Include everything below the documents.")
  var recursive = true

  @OptionGroup var wholeness: WholenessOptions
  @OptionGroup var destination: DestinationOptions
  @OptionGroup var writing: WritingOptions

  package var storage: StorageOptions { writing.storage }
  package var writes: Bool { !paths.dryRun && !paths.writesElsewhere && !destination.isNamed }

  package init() {}

  package mutating func run() async throws {
    let run = CopyRun(
      paths: paths, writing: writing, destination: destination, verb: ("copy", "copied"), isRecursive: recursive,
      isMove: false, wholeness: wholeness)
    try await run.run()
  }
}

/// `hearth move`: copies documents to another path or another database, and deletes them at the source.
package struct MoveCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Move a document or a collection and everything below it, also between databases.",
    usage: "hearth move <place> <place> [<options>]",
    discussion: """
      Write the places as in 'hearth copy', but without a time. Within a database, one commit deletes a document and \
      writes it at its new place, so it always exists at exactly one place. To move a document to another database, \
      the command writes it there first and then deletes it here. A document that other clients change in the meantime \
      is not moved. In that case, or if the move was interrupted, the same command with --overwrite moves the rest.

      Exit status 5, and nothing is written, if the destination is not empty; 4 if there is nothing to move; 75 if \
      documents changed in the meantime and were not moved.
      """)

  @OptionGroup var paths: CopyPaths
  @OptionGroup var destination: DestinationOptions
  @OptionGroup var writing: WritingOptions

  package var storage: StorageOptions { writing.storage }
  package var writes: Bool {
    !paths.dryRun && !(paths.readsElsewhere && (paths.writesElsewhere || destination.isNamed))
  }

  package init() {}

  package mutating func run() async throws {
    let run = CopyRun(
      paths: paths, writing: writing, destination: destination, verb: ("move", "moved"), isRecursive: true,
      isMove: true, wholeness: nil)
    try await run.run()
  }
}

/// The arguments of `hearth copy` and `hearth move`.
struct CopyPaths: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "The source: a path of a document or a collection, / for a whole database, or another database, "
        + "as in connection:prod/cities.", valueName: "place"))
  var source: String

  @Argument(
    help: ArgumentHelp("The destination. Default in another database: the same path.", valueName: "place"))
  var destination: String?

  @Flag(help: "Replace documents at the destination; its other documents stay.")
  var overwrite = false

  @Flag(help: "Only print how many documents would be written.")
  var dryRun = false

  /// Whether the source is in another database than the one that the options name.
  var readsElsewhere: Bool { PlaceText(source).database != nil }
  var writesElsewhere: Bool { destination.map { PlaceText($0).database != nil } ?? false }
}

/// A run of `hearth copy` or `hearth move`.
struct CopyRun {
  let paths: CopyPaths
  let writing: WritingOptions
  let destination: DestinationOptions
  /// The verb for messages, as infinitive and as participle.
  let verb: (infinitive: String, participle: String)
  let isRecursive: Bool
  let isMove: Bool
  /// The options for the read time of the source. With `nil`, each document is read when it is copied.
  let wholeness: WholenessOptions?

  func run() async throws {
    let route = try route()
    let copy = try await copy(route)
    let isQuiet = writing.headless.quiet
    if paths.dryRun {
      let count = try await writing.timeLimit.limit {
        var progress = TransferProgress(isQuiet: isQuiet)
        defer { progress.end() }
        return try await copy.count { progress.show($0) }
      }
      return try reportDry(count, copy, route)
    }
    let outcome: (done: DocumentCopy.Outcome, elapsed: Duration)
    let (done, advice) = (verb.participle.capitalized, "run the command again with --overwrite to continue")
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
    try report(outcome.done, outcome.elapsed, copy, route)
  }

  /// The source and the destination of a copy.
  private struct Route {
    var source: StorageOptions.Locations
    var path: ResourcePath
    var time: Timestamp?
    var destination: StorageOptions.Locations
    var newPath: ResourcePath

    var isElsewhere: Bool { source.backend != destination.backend || source.database != destination.database }
  }

  private func copy(_ route: Route) async throws -> DocumentCopy {
    let connection = try route.source.connect()
    var view = wholeness
    view?.moment.at = route.time
    let past = try await view?.view(of: connection) { writing.headless.note(ShownText($0)) } ?? connection
    let target =
      route.destination.backend == route.source.backend
      ? try connection.sibling(route.destination.database, of: route.source.backend)
      : try route.destination.connect()
    let copy = DocumentCopy(
      source: DocumentCopy.Place(datastore: past.datastore, database: past.database, path: route.path),
      destination: DocumentCopy.Place(datastore: target.datastore, database: target.database, path: route.newPath),
      isElsewhere: route.isElsewhere || route.time != nil, isRecursive: isRecursive,
      countsSubcollections: !isRecursive && !writing.headless.quiet, isMove: isMove, overwrites: paths.overwrite)
    try copy.check()
    return copy
  }

  private func route() throws -> Route {
    let here = writing.storage.locations
    let source = try NamedPlace(paths.source, in: here)
    let path = source.path ?? .root
    let time = try time(of: source)
    if isMove { try source.locations.requireWritable() }
    try source.locations.requireData()
    guard let text = paths.destination else {
      let there = destination.applied(to: source.locations)
      guard destination.isNamed || time != nil else {
        throw CommandFailure(
          .usage,
          "name a destination for \(path.isRoot ? "the database" : path.text): \(PlaceText.forms).")
      }
      try there.requireWritable()
      return Route(source: source.locations, path: path, time: time, destination: there, newPath: path)
    }
    let named = try NamedPlace(text, in: here)
    var there = named.locations
    if destination.isNamed { there = destination.applied(to: named.namesDatabase ? there : source.locations) }
    if named.time == nil { try there.requireWritable() } else { try named.requireWritable(text) }
    var newPath = named.path ?? path
    if path.isRoot || newPath.isRoot {
      if path != newPath {
        let folder = path.isRoot && !named.namesDatabase ? " To write into a folder, use data:\(text)." : ""
        throw CommandFailure(
          .usage,
          "/ can only be copied or moved to / of another database. A path needs a path as its destination.\(folder)")
      }
    } else {
      newPath = DocumentCopy.destination(of: path, newPath)
    }
    return Route(source: source.locations, path: path, time: time, destination: there, newPath: newPath)
  }

  private func time(of source: NamedPlace) throws(CommandFailure) -> Timestamp? {
    guard let time = source.time else { return wholeness?.moment.at }
    guard let wholeness else { throw CommandFailure(.usage, "past data cannot be moved. Use 'hearth copy'.") }
    if wholeness.moment.at != nil || wholeness.live {
      throw CommandFailure(.usage, "\(paths.source) already has a time. Remove --at and --live.")
    }
    return time
  }

  // MARK: Reports

  /// The name of the destination for messages.
  private func place(_ copy: DocumentCopy, _ route: Route) -> String {
    let path = copy.destination.path
    guard route.isElsewhere else { return path.isRoot ? "the whole database" : path.text }
    return (path.isRoot ? "" : "\(path) of ") + route.destination.name
  }

  private func reportDry(_ count: Int, _ copy: DocumentCopy, _ route: Route) throws {
    writing.headless.note("\(count.documents) would be \(verb.participle) to \(place(copy, route)).")
    if writing.json { try OutputFile.print(data: "{\"documents\": \(count), \"dryRun\": true}\n") }
  }

  private func report(
    _ outcome: DocumentCopy.Outcome, _ elapsed: Duration, _ copy: DocumentCopy, _ route: Route
  ) throws {
    writing.headless.noteSkipped(outcome.skippedCollections)
    let pace = TransferProgress.summary(outcome.written, in: elapsed)
    writing.headless.note("\(outcome.written.documents) \(verb.participle) to \(place(copy, route)) in \(pace).")
    if writing.json {
      try OutputFile.print(data: "{\"documents\": \(outcome.written), \"skipped\": \(outcome.skipped.count)}\n")
    }
    guard let first = outcome.skipped.first else { return }
    throw CommandFailure(
      .tryAgain,
      "\(outcome.skipped.count.documents) changed in the meantime, or were written at the destination, and were not "
        + "\(verb.participle). The first is \(first.key.path).")
  }
}

extension HeadlessOptions {
  /// Reports how many collections a command has skipped because of `--no-recursive`.
  func noteSkipped(_ count: Int) {
    if count == 0 { return }
    let subcollections = "\(count) subcollection\(count == 1 ? " was" : "s were")"
    note("\(subcollections) skipped because of --no-recursive.")
  }
}
