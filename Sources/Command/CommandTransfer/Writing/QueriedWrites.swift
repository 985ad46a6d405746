// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
import CommandOutput
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery
import Foundation

/// Writes to all documents in a query's result. The documents are selected before the first write. Otherwise a write
/// could move a document in the query's order, so that it would be written twice. A document is written only if it
/// still exists.
package struct QueriedWrites: Sendable {
  package let query: Query
  /// The verb for messages, as in `update` and `updated`.
  package let verb: (infinitive: String, participle: String)

  package init(query: Query, verb: (infinitive: String, participle: String)) {
    (self.query, self.verb) = (query, verb)
  }

  private var place: String { query.collectionGroup.map { "all collections \($0)" } ?? query.path.text }

  /// Selects the documents, and asks for consent.
  /// - Returns: the keys of the documents. If there is nothing to write, reports this and returns `nil`.
  package func choose(at connection: BackendConnection, _ writing: WritingOptions, _ consent: Consent) async throws
    -> [DocumentKey]?
  {
    let target = query.target
    let keys = try await writing.timeLimit.limit { try await connection.datastore.keys(of: target) }
    if !keys.isEmpty { await writing.headless.hint(forAlternativesOf: query, connection) }
    if keys.isEmpty || consent.dryRun {
      try reportDry(keys.count, consent, writing)
      if keys.isEmpty { await writing.headless.hint(for: query, connection) }
      return nil
    }
    try consent.obtain(verb.infinitive, keys.count, in: place)
    return keys
  }

  /// Reports how many documents a dry run would write.
  package func reportDry(_ count: Int, _ consent: Consent, _ writing: WritingOptions) throws {
    writing.headless.note(
      count == 0
        ? "no document of \(place) would be \(verb.participle)."
        : "\(count.documents) of \(place) would be \(verb.participle).")
    if writing.json {
      try OutputFile.print(data: "{\"documents\": \(count)\(consent.dryRun ? ", \"dryRun\": true" : "")}\n")
    }
  }

  /// - Parameters:
  ///   - isRepeatable: whether it is safe to apply each write twice.
  ///   - mutation: creates the mutation of a document.
  package func write(
    _ keys: [DocumentKey], at datastore: any Datastore, _ writing: WritingOptions, isRepeatable: Bool,
    _ mutation: @escaping @Sendable (DocumentKey) -> Mutation
  ) async throws {
    let writer = BulkWriter(datastore: datastore, isRepeatable: isRepeatable)
    let isQuiet = writing.headless.quiet
    let outcome: (done: BulkWriter.Outcome, elapsed: Duration)
    let done = verb.participle.capitalized
    do {
      outcome = try await writing.timeLimit.limitWrites {
        var progress = TransferProgress(isQuiet: isQuiet) { "\(done) so far: \($0) or more of \(keys.count)." }
        defer { progress.end() }
        let done = try await writer.write { add in
          for key in keys { try await add(BulkWriter.Unit(key: key, mutations: [mutation(key)])) }
        } progress: {
          progress.show($0, fraction: Double($0) / Double(keys.count))
        }
        return (done, progress.elapsed)
      }
    } catch let interruption as BulkWriter.Interruption {
      throw interruption.failure(verb.participle)
    }
    try report(outcome.done.written, skipped: outcome.done.skipped.count, outcome.elapsed, writing)
  }

  package func report(_ written: Int, skipped: Int, _ elapsed: Duration, _ writing: WritingOptions) throws {
    let pace = TransferProgress.summary(written, in: elapsed)
    writing.headless.note("\(written.documents) \(verb.participle) in \(pace).")
    if skipped > 0 { writing.headless.note("\(skipped.documents) had been deleted in the meantime.") }
    if writing.json { try OutputFile.print(data: "{\"documents\": \(written), \"skipped\": \(skipped)}\n") }
  }
}
