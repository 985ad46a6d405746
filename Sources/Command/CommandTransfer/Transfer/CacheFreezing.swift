// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSync

/// The documents of a cache into one file: a bundle, or lines that `import` reads.
struct CacheFreezing {
  /// The largest bundle: clients read it as a whole before they store anything.
  private static let largest = 100 << 20

  /// The document, or the collection with what is below it; `nil` for everything.
  let path: ResourcePath?
  let isBundle: Bool
  let database: DatabaseID

  /// - Parameter progress: called with the number of documents after each page; an error that it throws ends the work.
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
        throw CommandFailure(.badData, "it is larger than 100 MiB, and clients read a bundle as a whole: FILE.jsonl.")
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
