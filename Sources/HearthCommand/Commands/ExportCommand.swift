// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import FirestoreRemote
import Foundation
import Glibc

/// `hearth export`: documents into a file that `hearth import` reads.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write documents to a file that 'hearth import' reads.",
    usage: "hearth export <path>|--all [--recursive] [--output <file>] [<options>]",
    discussion: """
      One {"path": …, "data": …} per document, in the order of their paths: importing the file and exporting again \
      gives the same bytes. A file of -o appears when it is complete, in place of one with the same name.
      """)

  @Argument(help: "Path of a collection or a document.")
  var path: String?

  @Flag(help: "All collections of the database.")
  var all = false

  @Flag(help: "Also what is below the documents.")
  var recursive = false

  @Option(help: "Layout of the output; by default json for a file that ends in .json, else jsonl.")
  var format: TransferFormat?

  @Option(name: .shortAndLong, help: ArgumentHelp("Write to a file instead of standard output.", valueName: "file"))
  var output: String?

  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  mutating func validate() throws {
    if all == (path != nil) { throw ValidationError("name the path of a collection or document, or say --all.") }
  }

  mutating func run() async throws {
    let locations = storage.locations(Paths(environment: ProcessInfo.processInfo.environment))
    let path = try path.map { try DataPath.any($0) }
    let connection = try Connection.open(locations.backend, locations.database)
    if let problem = connection.problem { headless.note(problem.message) }
    let format = format ?? output.map(TransferFormat.init(fileName:)) ?? .jsonl
    var roots: [ResourcePath] = []
    if let path {
      roots = [path]
    } else {
      roots = try await connection.datastore.listCollectionIDs(below: .root).map { ResourcePath($0) }
    }
    let target = try ExportTarget(output)
    do {
      let count = try await write(roots, at: connection, to: target.file, format)
      if count == 0, let path, path.isDocument, !recursive {
        throw CommandFailure(.notFound, "\(path) does not exist.")
      }
      try target.commit()
    } catch {
      target.discard()
      throw error
    }
  }

  private func write(
    _ roots: [ResourcePath], at connection: Connection, to file: OutputFile, _ format: TransferFormat
  ) async throws -> Int {
    var progress = TransferProgress(isQuiet: headless.quiet || (output == nil && isatty(STDOUT_FILENO) == 1))
    var count = 0
    let walk = DocumentWalk(at: connection, isRecursive: recursive)
    do {
      for root in roots {
        try await walk.visit(root) { document in
          guard let data = document.data else { return }
          if format == .json { try file.write(count == 0 ? "[\n" : ",\n") }
          try file.write(DocumentLine.json(document.key, data.fields, in: connection.database))
          if format == .jsonl { try file.write("\n") }
          count += 1
          progress.show(count)
        }
      }
      if format == .json { try file.write(count == 0 ? "[]\n" : "\n]\n") }
      try file.flush()
    } catch {
      progress.end()
      throw error
    }
    progress.end()
    if output != nil {
      headless.note("\(count.documents) exported in \(TransferProgress.summary(count, in: progress.elapsed)).")
    }
    return count
  }
}

/// Standard output, or a file beside its final place.
private struct ExportTarget {
  let file: OutputFile
  private let part: (path: String, descriptor: Int32)?
  private let path: String?

  init(_ path: String?) throws(CommandFailure) {
    self.path = path
    guard let path else {
      (file, part) = (.standard(), nil)
      return
    }
    let name = "\(path).part-\(getpid())"
    let descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw CommandFailure(.cannotCreate, "\(name) cannot be written: \(String(cString: strerror(errno))).")
    }
    part = (name, descriptor)
    file = OutputFile(descriptor, path)
  }

  func commit() throws(CommandFailure) {
    guard let part, let path else { return }
    guard fsync(part.descriptor) == 0, close(part.descriptor) == 0, rename(part.path, path) == 0 else {
      throw CommandFailure(.cannotCreate, "\(path) cannot be written: \(String(cString: strerror(errno))).")
    }
  }

  func discard() {
    if let part { unlink(part.path) }
  }
}
