// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A request to export documents to a file or to import a file.
package enum TransferRequest: Hashable, Sendable {
  /// Exports the collections and documents at these paths, including everything below them. If `nil`, exports the whole
  /// database.
  case export([ResourcePath]?, file: String, replaces: Bool = false)
  /// Imports a file. If a collection is given, documents in the file without a path are added to this collection. If
  /// not, each document in the file must contain its path.
  case importing(file: String, into: ResourcePath?)
  /// Writes a Firestore bundle, which clients can load into their caches without contacting the server.
  case bundle(BundleContents, file: String, replaces: Bool = false)
  /// Writes the server's versions of cached documents: of one document, of everything in and below a collection, or of
  /// the whole cache. The file name determines the format: a bundle, or an export file that can be imported.
  case freezing(ResourcePath?, file: String, replaces: Bool = false)

  package var file: String {
    switch self {
    case .export(_, let file, _), .importing(let file, _), .bundle(_, let file, _), .freezing(_, let file, _): file
    }
  }

  /// The same request, with permission to replace an existing file. `nil` if the request already has this permission,
  /// or if it only reads a file.
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

/// The documents that a bundle contains.
package enum BundleContents: Hashable, Sendable {
  case documents([DocumentKey])
  /// The result of a query. Clients look up the query by this name.
  case result(Query, name: String)
}

/// The progress of a transfer.
package struct TransferState: Hashable, Sendable {
  package var request: TransferRequest
  package var documents: Int
  /// The number of rejected documents.
  package var refused: Int
  package var perSecond: Int
  /// The completed fraction, from 0 to 1, and the estimated number of remaining seconds; `nil` if unknown.
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
    /// The transfer failed before it was complete. The text contains the reason.
    case failed(String)
  }

  package var request: TransferRequest
  package var end: End
  package var documents: Int
  package var elapsed: Duration
  /// Descriptions of the first rejected documents, each with its line and the reason. Also states the number of all
  /// rejected documents.
  package var refused: [String]
  package var refusedCount: Int
  /// Further notes: the file with the rejected documents, the position from which this transfer resumed, or the
  /// position from which the next transfer can resume.
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
