// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery

/// A search for the vectors nearest to a given one (PROTOCOL §3.7: after filters and cursors).
package struct NearestNeighbors: Sendable {
  package enum Measure: Hashable, Sendable { case euclidean, cosine, dotProduct }

  package var path: FieldPath
  package var vector: [Double]
  package var measure: Measure
  package var limit: Int
  /// The field of each result that receives the distance.
  package var resultField: FieldPath?
  /// The maximum distance of a result; for the dot product, the minimum product.
  package var threshold: Double?

  package init(
    path: FieldPath, vector: [Double], measure: Measure, limit: Int, resultField: FieldPath? = nil,
    threshold: Double? = nil
  ) {
    self.path = path
    self.vector = vector
    self.measure = measure
    self.limit = limit
    self.resultField = resultField
    self.threshold = threshold
  }

  fileprivate func isFarther(_ left: Double, _ right: Double) -> Bool {
    measure == .dotProduct ? left < right : left > right
  }

  /// - Parameter length: the squared length of the query vector.
  fileprivate func distance(to other: [Double], _ length: Double) -> Double {
    func dot(_ left: [Double], _ right: [Double]) -> Double { zip(left, right).reduce(0) { $0 + $1.0 * $1.1 } }
    switch measure {
    case .dotProduct: return dot(vector, other)
    case .euclidean: return zip(vector, other).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
    case .cosine:
      let lengths = (length * dot(other, other)).squareRoot()
      return lengths == 0 ? 1 : 1 - dot(vector, other) / lengths
    }
  }
}

/// Selects the documents nearest to a vector. If whole documents are too large, retains only the fields that the target
/// sorts by.
struct NearestDocuments {
  private struct Candidate {
    var document: Document
    let distance: Double
  }

  private let search: NearestNeighbors
  private let target: Target
  private let maximumBytes: Int
  /// The squared length of the query vector.
  private let length: Double
  private var candidates: [Candidate] = []
  private var bytes = 0
  private var isThin = false

  /// - Parameters:
  ///   - target: orders equally distant documents.
  ///   - maximumBytes: the maximum size in bytes of all whole documents together.
  init(_ search: NearestNeighbors, _ target: Target, holding maximumBytes: Int) {
    (self.search, self.target, self.maximumBytes) = (search, target, maximumBytes)
    length = search.vector.reduce(0) { $0 + $1 * $1 }
  }

  /// Adds a document; ignores documents without a vector of the same dimension.
  mutating func add(_ document: Document) {
    guard case .vector(let other)? = document[search.path], other.count == search.vector.count else { return }
    let distance = search.distance(to: other, length)
    if let threshold = search.threshold, search.isFarther(distance, threshold) { return }
    candidates.append(Candidate(document: isThin ? document.thinned(for: target) : document, distance: distance))
    if !isThin { bytes += document.storedSize }
    // Retains up to twice the requested number, so that each document is sorted about twice.
    if candidates.count >= 2 * search.limit + 64 { compact() }
    if !isThin, bytes > maximumBytes {
      isThin = true
      for index in candidates.indices { candidates[index].document = candidates[index].document.thinned(for: target) }
    }
  }

  /// The nearest documents, nearest first, with their distance if requested.
  mutating func finish() -> (documents: [Document], isThin: Bool) {
    compact()
    let documents = candidates.map { candidate in
      guard let path = search.resultField else { return candidate.document }
      return candidate.document.setting(path, to: .double(candidate.distance))
    }
    return (documents, isThin)
  }

  private mutating func compact() {
    let (search, target) = (search, target)
    candidates.sort { left, right in
      if left.distance == right.distance {
        return target.compare(left.document, right.document, by: .backend) == .ascending
      }
      return search.isFarther(right.distance, left.distance)
    }
    guard candidates.count > search.limit else { return }
    candidates.removeLast(candidates.count - search.limit)
    if !isThin { bytes = candidates.reduce(0) { $0 + $1.document.storedSize } }
  }
}

extension Document {
  /// A copy of the document with a new value in one field. A missing document is returned unchanged.
  func setting(_ path: FieldPath, to value: Value) -> Document {
    guard var fields = data?.fields else { return self }
    var document = self
    fields[path] = value
    document.state = .found(DocumentData(fields))
    return document
  }
}
