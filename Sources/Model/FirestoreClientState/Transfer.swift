// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A request to export documents to a file or to import a file.
package enum TransferRequest: Hashable, Sendable {
  /// Exports collections and documents by path, including everything below them; `nil` exports the whole database.
  case export([ResourcePath]?, file: String, replaces: Bool = false)
  /// Imports a file. Plain documents go into the collection; without a collection, each document names its path.
  case importing(file: String, into: ResourcePath?)
  /// Writes a bundle, which fills clients' caches without contacting the server.
  case bundle(BundleContents, file: String, replaces: Bool = false)
  /// Writes cached documents in the server's versions: one document, everything below a collection, or the whole cache.
  /// The name of the file decides between a bundle and an export file for an import.
  case freezing(ResourcePath?, file: String, replaces: Bool = false)

  package var file: String {
    switch self {
    case .export(_, let file, _), .importing(let file, _), .bundle(_, let file, _), .freezing(_, let file, _): file
    }
  }

  /// The same request with permission to replace the file; `nil` if it already has this permission, or if it only reads
  /// the file.
  package var replacing: TransferRequest? {
    switch self {
    case .export(let paths, let file, false): .export(paths, file: file, replaces: true)
    case .bundle(let contents, let file, false): .bundle(contents, file: file, replaces: true)
    case .freezing(let path, let file, false): .freezing(path, file: file, replaces: true)
    case .export(_, _, true), .bundle(_, _, true), .freezing(_, _, true), .importing: nil
    }
  }

  package var isImport: Bool { if case .importing = self { true } else { false } }
}

/// The documents of a bundle.
package enum BundleContents: Hashable, Sendable {
  case documents([DocumentKey])
  /// The result of a query, which clients load by this name.
  case result(Query, name: String)
}

/// The progress of a transfer.
package struct TransferState: Hashable, Sendable {
  package var request: TransferRequest
  package var documents: Int
  /// The number of rejected documents.
  package var refused: Int
  package var perSecond: Int
  /// The finished fraction, from 0 to 1, and the seconds left; `nil` if unknown.
  package var fraction: Double?
  package var secondsLeft: Int?

  package init(
    _ request: TransferRequest, documents: Int = 0, refused: Int = 0, perSecond: Int = 0, fraction: Double? = nil,
    secondsLeft: Int? = nil
  ) {
    self.request = request
    self.documents = documents
    self.refused = refused
    self.perSecond = perSecond
    self.fraction = fraction
    self.secondsLeft = secondsLeft
  }
}

/// The result of a transfer.
package struct TransferSummary: Hashable, Sendable {
  package enum End: Hashable, Sendable {
    case complete, cancelled
    /// A failure before the end, with its reason.
    case failed(String)
  }

  package var request: TransferRequest
  package var end: End
  package var documents: Int
  package var elapsed: Duration
  /// The first rejected documents, each with its line and the reason, and the count of all rejected documents.
  package var refused: [String]
  package var refusedCount: Int
  /// Further notes: the file with rejected documents, the position from which the transfer resumed, and the position to
  /// resume from.
  package var notes: [String]

  package init(
    _ request: TransferRequest, _ end: End, documents: Int, elapsed: Duration, refused: [String] = [],
    refusedCount: Int = 0, notes: [String] = []
  ) {
    self.request = request
    self.end = end
    self.documents = documents
    self.elapsed = elapsed
    self.refused = refused
    self.refusedCount = refusedCount
    self.notes = notes
  }
}
