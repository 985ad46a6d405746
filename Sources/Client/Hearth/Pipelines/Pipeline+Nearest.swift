// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// A measure of the distance of two vectors.
public enum DistanceMeasure: String, Hashable, Sendable {
  /// The length of the straight line between the two.
  case euclidean
  /// 1 minus the cosine of the angle between the two.
  case cosine
  /// The dot product of the two: larger is nearer.
  case dotProduct = "dot_product"
}

extension Pipeline {
  /// Keeps the documents whose vectors are nearest to a vector, nearest first. Documents without a vector of the same
  /// length are left out.
  /// - Parameters:
  ///   - limit: the largest number of documents; all by default.
  ///   - distanceField: the field that gets the distance; none by default.
  public func findNearest(
    field: Field, vectorValue: VectorValue, distanceMeasure: DistanceMeasure, limit: Int? = nil,
    distanceField: String? = nil
  ) -> Pipeline {
    appending(
      "find_nearest",
      options: { () throws(FirestoreError) in
        var options: [String: ExpressionMessage] = [:]
        if let limit { options["limit"] = .constant(.integer(Int64(limit))) }
        if let distanceField { options["distance_field"] = .field(try Field(distanceField).path()) }
        return options
      }
    ) { () throws(FirestoreError) in
      [
        try field.term.message.get(), .constant(.vector(vectorValue.array)),
        .constant(.string(distanceMeasure.rawValue)),
      ]
    }
  }
}
