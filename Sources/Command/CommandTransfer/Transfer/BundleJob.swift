// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSync

/// Writes documents of the server, or the result of a query, as a bundle.
struct BundleJob {
  /// The maximum size of a bundle in bytes. Clients read the whole bundle before they store any part of it.
  private static let largest = 100 << 20
  private static let documentsPerLookup = 100

  private let contents: BundleContents
  private let datastore: any Datastore
  private let database: DatabaseID
  private let readTime: SnapshotVersion?

  /// - Parameter readTime: the read time of the datastore; `nil` if its reads have no common read time.
  init(contents: BundleContents, at datastore: any Datastore, _ database: DatabaseID, readTime: SnapshotVersion?) {
    (self.contents, self.datastore, self.database, self.readTime) = (contents, datastore, database, readTime)
  }

  /// - Parameter progress: called after each page with the document count. If it throws an error, the work ends.
  func run(_ progress: (Int) throws -> Void) async throws -> [UInt8] {
    var documents: [Document] = []
    var size = 0
    func take(_ page: [Document]) throws {
      documents += page
      size += page.reduce(0) { $0 + ($1.data?.encoded.bytes.count ?? 0) }
      guard size <= Self.largest else {
        throw CommandFailure(.badData, "a bundle can have at most 100 MiB, because clients load it whole.")
      }
      try progress(documents.count)
    }
    switch contents {
    case .documents(let keys):
      var rest = keys[...]
      while !rest.isEmpty {
        try take(try await datastore.lookup(Array(rest.prefix(Self.documentsPerLookup))))
        rest = rest.dropFirst(Self.documentsPerLookup)
      }
    case .result(let query, _):
      var pages = DocumentPages(of: query, at: datastore, database)
      while let page = try await pages.next() { try take(page) }
    }
    return try bytes(of: documents)
  }

  private func bytes(of documents: [Document]) throws(RPCStatus) -> [UInt8] {
    // The latest version of a document is the only known time if the read time is not fixed.
    let readTime = readTime ?? documents.compactMap(\.version).max() ?? SnapshotVersion(Timestamp(microseconds: 1))
    var writer = BundleWriter(database)
    var names: [String] = []
    if case .result(let query, let name) = contents {
      try writer.append(Bundle.NamedQuery(name: name, query: query, readTime: readTime))
      names = [name]
    }
    for document in documents { try writer.append(document, readTime: readTime, queries: names) }
    return try writer.bytes(id: contents.bundleID, createTime: SnapshotVersion(Timestamp.now))
  }
}

extension BundleContents {
  /// The id of the bundle for clients. If a client has already loaded a bundle with this id, it loads only a newer one.
  fileprivate var bundleID: String {
    switch self {
    case .documents(let keys):
      "documents:" + (keys.first?.path.text ?? "") + (keys.count > 1 ? "+\(keys.count - 1)" : "")
    case .result(_, let name): "query:" + name
    }
  }
}

/// Writes the documents of a cache to one file: as a bundle, or as lines that `import` reads.
struct CacheFreezing {
  /// The maximum size of a bundle in bytes. Clients read the whole bundle before they store any part of it.
  private static let largest = 100 << 20

  /// The document, or the collection with its descendants; `nil` for everything.
  let path: ResourcePath?
  let isBundle: Bool
  let database: DatabaseID

  /// - Parameter progress: called after each page with the document count. If it throws an error, the work ends.
  func run(of client: SyncEngine, to file: OutputFile, _ progress: (Int) throws -> Void) async throws {
    var (count, writer) = (0, BundleWriter(database))
    var pages = CachePages(of: path)
    while !pages.isFinished {
      for cached in try await client.nextPage(&pages) {
        guard let fields = cached.document.data?.fields else { continue }
        if isBundle {
          try writer.append(cached.document, readTime: cached.readTime)
        } else {
          try file.data(DocumentLine.json(cached.document.key, fields, in: database))
          try file.data("\n")
        }
        count += 1
      }
      guard writer.byteCount <= Self.largest else {
        throw CommandFailure(
          .badData, "a bundle can have at most 100 MiB, because clients load it whole. Use FILE.jsonl.")
      }
      try progress(count)
    }
    if isBundle {
      let id = "cache:" + (path?.text ?? "")
      let bytes = try writer.bytes(id: id, createTime: SnapshotVersion(Timestamp.now))
      try file.data(String(decoding: bytes, as: UTF8.self))
    }
    try file.flush()
  }
}
