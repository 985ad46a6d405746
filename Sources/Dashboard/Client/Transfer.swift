// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Documents to be written to a file, or a file's documents to be written.
package enum TransferRequest: Codable, Hashable, Sendable {
  /// Collections and documents by their paths, `nil` for all of the database; with what is below their documents.
  case export([ResourcePath]?, file: String, replaces: Bool = false)
  /// Plain documents go into the collection; without one each names its path.
  case importing(file: String, into: ResourcePath?)

  package var file: String {
    switch self {
    case .export(_, let file, _), .importing(let file, _): file
    }
  }

  package var isImport: Bool { if case .importing = self { true } else { false } }
}

/// How far a transfer is.
package struct TransferState: Codable, Hashable, Sendable {
  package var request: TransferRequest
  package var documents: Int
  /// Documents that were refused.
  package var refused: Int
  package var perSecond: Int
  /// How much of the whole is done, from 0 to 1, and how many seconds are left; `nil` where that is not known.
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

/// What a transfer came to.
package struct TransferAccount: Codable, Hashable, Sendable {
  package enum End: Codable, Hashable, Sendable {
    case complete, cancelled
    /// Why it ended before its end.
    case failed(String)
  }

  package var request: TransferRequest
  package var end: End
  package var documents: Int
  package var elapsed: Duration
  /// The first of the documents that were refused, each with its line and why, and how many there were in all.
  package var refused: [String]
  package var refusedCount: Int
  /// What else is to be known: where refused documents are, where it went on, where it would go on.
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
