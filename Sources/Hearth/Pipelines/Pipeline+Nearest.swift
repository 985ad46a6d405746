// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// How far vectors are from each other.
public enum DistanceMeasure: String, Hashable, Sendable {
  /// The length of the line between them.
  case euclidean
  /// 1 less the cosine of the angle between them.
  case cosine
  /// Their dot product: larger is nearer.
  case dotProduct = "dot_product"
}

extension Pipeline {
  /// The documents whose vectors are nearest to one, nearest first. Documents without a vector of its length are left
  /// out.
  /// - Parameters:
  ///   - limit: how many at most; all by default.
  ///   - distanceField: gets the distance.
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
