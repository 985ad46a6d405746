// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A document of a batch, and the effect of the batch on it.
package struct WrittenDocument: Codable, Hashable, Sendable {
  package enum Effect: String, Codable, Hashable, Sendable { case created, changed, deleted }

  package var key: DocumentKey
  package var effect: Effect

  package init(_ key: DocumentKey, _ effect: Effect) {
    self.key = key
    self.effect = effect
  }
}

/// The documents that a batch wrote: the first of them, and how many there are. Bounded, since an answer is told again
/// and again until later ones take its place.
package struct WrittenDocuments: Codable, Hashable, Sendable {
  /// The number of documents that are named.
  package static let named = 20

  /// The first documents in the order of the batch, each once.
  package private(set) var first: [WrittenDocument] = []
  /// The number of documents, with those that are not named.
  private var count = 0
  /// The number of documents that are not named.
  package var unnamed: Int { max(0, min(count, 1 << 40) - first.count) }

  /// Names the documents of a batch. Mutations that only check a condition write nothing.
  /// - Parameter limit: the number of documents to name.
  package init(of mutations: [Mutation], naming limit: Int = Self.named) {
    var places: [DocumentKey: Int] = [:]
    for mutation in mutations {
      guard let effect = WrittenDocument.Effect(mutation) else { continue }
      if let place = places[mutation.key] {
        if place < first.count { first[place].effect = first[place].effect.followed(by: effect) }
        continue
      }
      places[mutation.key] = places.count
      if first.count < limit { first.append(WrittenDocument(mutation.key, effect)) }
    }
    count = places.count
  }

  /// The same documents under other names.
  package func renamed(_ name: (DocumentKey) -> DocumentKey) -> WrittenDocuments {
    var renamed = self
    renamed.first = first.map { WrittenDocument(name($0.key), $0.effect) }
    return renamed
  }
}

extension WrittenDocument.Effect {
  /// - Returns: `nil` for a mutation that changes nothing.
  package init?(_ mutation: Mutation) {
    switch mutation.operation {
    case .delete: self = .deleted
    case .set where mutation.precondition == .exists(false): self = .created
    case .set, .patch: self = .changed
    case .verify: return nil
    }
  }

  /// The effect of two mutations of one batch together.
  fileprivate func followed(by next: Self) -> Self { next == .changed && self == .created ? .created : next }
}
