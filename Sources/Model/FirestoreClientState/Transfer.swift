// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A request to write documents to a file, or a file's documents to the database.
package enum TransferRequest: Hashable, Sendable {
  /// An export of collections and documents by their paths, `nil` for all of the database; with all documents below
  /// them.
  case export([ResourcePath]?, file: String, replaces: Bool = false)
  /// An import: plain documents go into the collection; without a collection each document names its path.
  case importing(file: String, into: ResourcePath?)
  /// A bundle, from which clients fill their caches without asking the server.
  case bundle(BundleContents, file: String, replaces: Bool = false)
  /// The cache's part of a document or below a collection, or all of it, as the server had it; as a bundle if the
  /// file's name ends so, else for an import.
  case freezing(ResourcePath?, file: String, replaces: Bool = false)

  package var file: String {
    switch self {
    case .export(_, let file, _), .importing(let file, _), .bundle(_, let file, _), .freezing(_, let file, _): file
    }
  }

  /// The same request for a file that may exist; `nil` if it is that already, or reads the file.
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
  /// The result of a query, which clients find by the name.
  case result(Query, name: String)
}

/// The progress of a transfer.
package struct TransferState: Hashable, Sendable {
  package var request: TransferRequest
  package var documents: Int
  /// The number of documents that were refused.
  package var refused: Int
  package var perSecond: Int
  /// The finished share of the whole, from 0 to 1, and the seconds left; `nil` where they are not known.
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
package struct TransferAccount: Hashable, Sendable {
  package enum End: Hashable, Sendable {
    case complete, cancelled
    /// A failure before the end, with its reason.
    case failed(String)
  }

  package var request: TransferRequest
  package var end: End
  package var documents: Int
  package var elapsed: Duration
  /// The first refused documents, each with its line and the reason, and the number of all refused documents.
  package var refused: [String]
  package var refusedCount: Int
  /// Further notes: the place of refused documents, the place from which it resumed, and that from which it would
  /// resume.
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
