// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
import CommandOutput
package import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// Deletes collections and documents with all their descendants.
///
/// ```
///  names of a collection, page by page ─► commits of 500 ─► remaining parents ─► their collections ─► names …
/// ```
/// Documents are deleted before their descendants. A deleted document is still listed only if it has subcollections, so
/// subcollections are requested only for these documents. Documents that remain after an interruption are found in the
/// same way.
struct RecursiveDeletion {
  /// The number of names in one request.
  private static let pageSize = 2000
  /// The maximum number of writes in one commit (PROTOCOL §3.10).
  private static let writeLimit = 500
  private static let maximumCalls = 8
  /// The count of names waiting for deletion at which no more names are requested.
  private static let waitingLimit = 8000

  private enum Work: Sendable {
    case names(of: ResourcePath, collection: Int, after: DocumentKey?)
    case parents(of: ResourcePath)
    case collections(below: DocumentKey)
  }

  private enum Step: Sendable {
    case named(of: ResourcePath, collection: Int, [DocumentKey])
    /// Documents were deleted. The value is their count by collection.
    case deleted([Int: Int])
    case parents([DocumentKey])
    case collections([ResourcePath])
  }

  private struct Collection {
    let path: ResourcePath
    /// The number of documents whose names are known and that are not yet deleted.
    var waiting = 0
    var isNamed = false
  }

  private let datastore: any Datastore
  private let database: DatabaseID
  private let retries = CommitRetries()
  private var collections: [Int: Collection] = [:]
  private var nextCollection = 0
  private var waiting: [(collection: Int, key: DocumentKey)] = []
  private var work: [Work] = []
  private var running = 0
  private(set) var deleted = 0

  init(at datastore: any Datastore, _ database: DatabaseID) {
    self.datastore = datastore
    self.database = database
  }

  /// - Parameters:
  ///   - roots: collections and documents. A root that is inside another root is deleted together with it.
  ///   - progress: called with the count of deleted documents. If it throws an error, the work ends.
  /// - Throws: the error that ended the work. `deleted` contains the progress.
  mutating func run(_ roots: [ResourcePath], progress: (Int) throws -> Void) async throws {
    var documents: [DocumentKey] = []
    var outermost: ResourcePath?
    for root in roots.sorted() {
      if let outermost, outermost.isPrefix(of: root) { continue }
      outermost = root
      if let key = DocumentKey(root) { documents.append(key) } else { open(root) }
    }
    try await withThrowingTaskGroup(of: Step.self) { group in
      defer { group.cancelAll() }
      try await add(documents)
      while true {
        start(in: &group)
        guard let step = try await group.next() else { break }
        running -= 1
        finish(step)
        try progress(deleted)
      }
    }
  }

  /// Adds documents to delete. Nonexistent documents are not counted, but their descendants are deleted.
  private mutating func add(_ documents: [DocumentKey]) async throws {
    let index = nextCollection
    nextCollection += 1
    var rest = documents[...]
    var held = Collection(path: .root)
    while !rest.isEmpty {
      for document in try await datastore.lookup(Array(rest.prefix(Self.writeLimit))) where document.exists {
        waiting.append((index, document.key))
        held.waiting += 1
      }
      rest = rest.dropFirst(Self.writeLimit)
    }
    collections[index] = held
    work += documents.reversed().map { .collections(below: $0) }
  }

  private mutating func open(_ collection: ResourcePath) {
    collections[nextCollection] = Collection(path: collection)
    work.append(.names(of: collection, collection: nextCollection, after: nil))
    nextCollection += 1
  }

  // MARK: Calls

  private mutating func start(in group: inout ThrowingTaskGroup<Step, any Error>) {
    while running < Self.maximumCalls {
      if waiting.count >= Self.writeLimit {
        commit(in: &group)
      } else if waiting.count < Self.waitingLimit, let next = work.popLast() {
        call(next, in: &group)
      } else if running == 0, !waiting.isEmpty {
        // No call in flight could fill the commit.
        commit(in: &group)
      } else {
        return
      }
    }
  }

  private mutating func commit(in group: inout ThrowingTaskGroup<Step, any Error>) {
    let batch = Array(waiting.suffix(Self.writeLimit))
    waiting.removeLast(batch.count)
    running += 1
    let (datastore, retries) = (datastore, retries)
    let counts = Dictionary(batch.map { ($0.collection, 1) }, uniquingKeysWith: +)
    let mutations = batch.map { Mutation(key: $0.key, operation: .delete) }
    group.addTask {
      try await retries.commit(mutations, at: datastore)
      return .deleted(counts)
    }
  }

  private mutating func call(_ work: Work, in group: inout ThrowingTaskGroup<Step, any Error>) {
    running += 1
    let (datastore, database) = (datastore, database)
    switch work {
    case .names(let path, let index, let last):
      let start = last.map { Bound(values: [.reference(database, $0)], isInclusive: false) }
      let target = Query(path: path, limit: Self.pageSize, start: start).target
      group.addTask { .named(of: path, collection: index, try await datastore.keys(of: target)) }
    case .parents(let path): group.addTask { .parents(try await datastore.missingDocuments(in: path)) }
    case .collections(let key):
      group.addTask {
        .collections(try await datastore.listCollectionIDs(below: key.path).map { key.path.appending($0) })
      }
    }
  }

  // MARK: Replies

  private mutating func finish(_ step: Step) {
    switch step {
    case .named(let path, let index, let keys):
      waiting += keys.map { (index, $0) }
      collections[index]?.waiting += keys.count
      if keys.count == Self.pageSize {
        work.append(.names(of: path, collection: index, after: keys.last))
      } else {
        collections[index]?.isNamed = true
        close(index)
      }
    case .deleted(let counts):
      for (index, count) in counts {
        deleted += count
        collections[index]?.waiting -= count
        close(index)
      }
    case .parents(let keys): work += keys.reversed().map { .collections(below: $0) }
    case .collections(let paths): for path in paths.reversed() { open(path) }
    }
  }

  /// Continues with the subcollections of a collection's documents when all of these documents are deleted.
  private mutating func close(_ index: Int) {
    guard let collection = collections[index], collection.isNamed, collection.waiting == 0 else { return }
    collections[index] = nil
    work.append(.parents(of: collection.path))
  }
}

/// Deletes everything below a path for a command: counts the documents, asks for consent, and reports the result.
package struct BulkRemoval {
  package let writing: WritingOptions
  package let consent: Consent
  package let connection: BackendConnection

  package init(writing: WritingOptions, consent: Consent, connection: BackendConnection) {
    (self.writing, self.consent, self.connection) = (writing, consent, connection)
  }

  /// Counts the documents below some paths, and asks for consent unless it is already given.
  /// - Parameters:
  ///   - name: the name of the paths in reports.
  ///   - extent: the name of the paths in the question.
  /// - Returns: `false` if there is nothing to delete. This is reported.
  package func obtainConsent(below paths: [ResourcePath], called name: String, asking extent: String) async throws
    -> Bool
  {
    if consent.yes, !consent.dryRun { return true }
    // Counting takes as long as deleting, so the command fails before it if no user can answer.
    guard consent.dryRun || Consent.canAsk else {
      throw CommandFailure(.usage, "this deletes all documents of \(extent). Add --yes to confirm.")
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

  /// Prints possible reasons for an empty result.
  private func hint(below paths: [ResourcePath]) async {
    for path in paths { await writing.headless.hint(at: path, connection) }
  }

  private func reportDry(_ count: Int, _ name: String) throws {
    writing.headless.note(
      count == 0 ? "no document of \(name) would be deleted." : "\(count.documents) of \(name) would be deleted.")
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
      var progress = TransferProgress(isQuiet: isQuiet) {
        "Deleted so far: \($0) or more; run the command again to continue."
      }
      defer { progress.end() }
      var deletion = RecursiveDeletion(at: connection.datastore, connection.database)
      do {
        try await deletion.run(roots) { progress.show($0) }
      } catch let status as RPCStatus {
        throw CommandFailure(
          ExitStatus(status), "\(status) Deleted so far: \(deletion.deleted); run the command again to continue.")
      }
      return (deletion.deleted, progress.elapsed)
    }
    let pace = TransferProgress.summary(deleted, in: elapsed)
    writing.headless.note("\(deleted.documents) deleted in \(pace).")
    if writing.json { try OutputFile.print(data: "{\"documents\": \(deleted), \"skipped\": 0}\n") }
    if deleted == 0 { await hint(below: roots) }
  }
}
