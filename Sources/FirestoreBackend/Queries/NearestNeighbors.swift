// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A search for the vectors nearest to one (PROTOCOL §3.7: after filters and cursors).
package struct NearestNeighbors: Sendable {
  package enum Measure: Hashable, Sendable { case euclidean, cosine, dotProduct }

  package var path: FieldPath
  package var vector: [Double]
  package var measure: Measure
  package var limit: Int
  /// The field of each result that gets the distance.
  package var resultField: FieldPath?
  /// Results farther away than this (for a dot product: smaller) are left out.
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

  /// The nearest documents, nearest first; ties in the order given. Documents without a vector of the same dimension
  /// are left out.
  func choose(from documents: [Document]) -> [Document] {
    var candidates: [(distance: Double, index: Int)] = []
    for (index, document) in documents.enumerated() {
      guard case .vector(let other)? = document[path], other.count == vector.count else { continue }
      let distance = distance(to: other)
      if let threshold, measure == .dotProduct ? distance < threshold : distance > threshold { continue }
      candidates.append((distance, index))
    }
    candidates.sort { left, right in
      if left.distance == right.distance { return left.index < right.index }
      return measure == .dotProduct ? left.distance > right.distance : left.distance < right.distance
    }
    return candidates.prefix(limit).map { candidate in
      var document = documents[candidate.index]
      if let resultField, var fields = document.data?.fields {
        fields[resultField] = .double(candidate.distance)
        document.state = .found(DocumentData(fields))
      }
      return document
    }
  }

  private func distance(to other: [Double]) -> Double {
    func dot(_ left: [Double], _ right: [Double]) -> Double { zip(left, right).reduce(0) { $0 + $1.0 * $1.1 } }
    switch measure {
    case .dotProduct: return dot(vector, other)
    case .euclidean: return zip(vector, other).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
    case .cosine:
      let lengths = (dot(vector, vector) * dot(other, other)).squareRoot()
      return lengths == 0 ? 1 : 1 - dot(vector, other) / lengths
    }
  }
}
