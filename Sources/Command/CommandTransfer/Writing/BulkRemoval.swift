// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
import CommandOutput
package import FirestoreModel
import FirestoreProtocol

/// The deletion of everything below a path by a command: counted, confirmed and reported.
package struct BulkRemoval {
  package let writing: WritingOptions
  package let consent: Consent
  package let connection: BackendConnection

  package init(writing: WritingOptions, consent: Consent, connection: BackendConnection) {
    (self.writing, self.consent, self.connection) = (writing, consent, connection)
  }

  /// Counts the documents below paths and asks for consent, unless it is given.
  /// - Parameters:
  ///   - name: the name of the paths in reports.
  ///   - extent: the name of the paths in the question.
  /// - Returns: `false` if nothing is to be deleted, which is reported.
  package func obtainConsent(below paths: [ResourcePath], called name: String, asking extent: String) async throws
    -> Bool
  {
    if consent.yes, !consent.dryRun { return true }
    // Counting takes as long as deleting, so that a user who cannot answer is refused before it.
    guard consent.dryRun || Consent.canAsk else {
      throw CommandFailure(.usage, "this deletes all documents of \(extent): add --yes to say that you mean it.")
    }
    let count = try await count(below: paths)
    if count == 0 || consent.dryRun {
      try reportDry(count, name)
      if count == 0 { await hint(below: paths) }
      return false
    }
    try consent.obtain("delete", count, in: extent)
    return true
  }

  /// Tells why nothing may have been found.
  private func hint(below paths: [ResourcePath]) async {
    for path in paths { await writing.headless.hint(at: path, connection) }
  }

  private func reportDry(_ count: Int, _ name: String) throws {
    writing.headless.note(
      count == 0 ? "no document of \(name) is to be deleted." : "\(count.documents) of \(name) would be deleted.")
    if writing.json {
      try OutputFile.print(data: "{\"documents\": \(count)\(consent.dryRun ? ", \"dryRun\": true" : "")}\n")
    }
  }

  private func count(below paths: [ResourcePath]) async throws -> Int {
    let (isQuiet, connection) = (writing.headless.quiet, connection)
    return try await writing.timeLimit.limit {
      var progress = TransferProgress(isQuiet: isQuiet)
      defer { progress.end() }
      var (walk, count) = (DocumentWalk(at: connection.datastore, connection.database, isRecursive: true), 0)
      walk.projection = FieldMask([])
      for path in paths {
        try await walk.visit(path) { _ in
          count += 1
          progress.show(count)
        }
      }
      return count
    }
  }

  /// - Parameter roots: collections and documents.
  package func delete(_ roots: [ResourcePath]) async throws {
    let (isQuiet, connection) = (writing.headless.quiet, connection)
    let (deleted, elapsed) = try await writing.timeLimit.limitWrites {
      var progress = TransferProgress(isQuiet: isQuiet) { "Deleted so far: \($0) or more; the same command goes on." }
      defer { progress.end() }
      var deletion = RecursiveDeletion(at: connection.datastore, connection.database)
      do {
        try await deletion.run(roots) { progress.show($0) }
      } catch let status as RPCStatus {
        throw CommandFailure(
          ExitStatus(status), "\(status) Deleted so far: \(deletion.deleted); the same command goes on.")
      }
      return (deletion.deleted, progress.elapsed)
    }
    let pace = TransferProgress.summary(deleted, in: elapsed)
    writing.headless.note("\(deleted.documents) deleted in \(pace).")
    if writing.json { try OutputFile.print(data: "{\"documents\": \(deleted), \"skipped\": 0}\n") }
    if deleted == 0 { await hint(below: roots) }
  }
}
