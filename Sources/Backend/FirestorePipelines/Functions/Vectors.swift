// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Glibc

enum VectorDistance: String, Sendable, CaseIterable {
  case euclidean, cosine
  case dotProduct = "dot_product"

  /// - Precondition: both have the same length.
  func callAsFunction(_ left: [Double], _ right: [Double]) -> Double {
    func dot(_ left: [Double], _ right: [Double]) -> Double { zip(left, right).reduce(0) { $0 + $1.0 * $1.1 } }
    switch self {
    case .dotProduct: return dot(left, right)
    case .euclidean: return zip(left, right).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
    case .cosine:
      let lengths = (dot(left, left) * dot(right, right)).squareRoot()
      return lengths == 0 ? 1 : 1 - dot(left, right) / lengths
    }
  }
}

/// Functions on vectors and geographical points.
enum Vectors {
  static let functions: [Function] = [
    Function("cosine_distance", 2) { values, _ throws(EvaluationError) in
      try distance("cosine_distance", .cosine, values)
    },
    Function("euclidean_distance", 2) { values, _ throws(EvaluationError) in
      try distance("euclidean_distance", .euclidean, values)
    },
    Function("dot_product", 2) { values, _ throws(EvaluationError) in
      try distance("dot_product", .dotProduct, values)
    },
    Function("vector_length", 1) { values, _ throws(EvaluationError) in
      .integer(Int64(try values[0].vector(of: "vector_length").count))
    },
    Function("geo_distance", 2) { values, _ throws(EvaluationError) in
      guard case .geoPoint(let left) = values[0] else { throw .type("geo_distance", "geo points", values[0]) }
      guard case .geoPoint(let right) = values[1] else { throw .type("geo_distance", "geo points", values[1]) }
      return .double(left.distance(to: right))
    },
  ]

  private static func distance(
    _ function: String, _ measure: VectorDistance, _ values: [Value]
  ) throws(EvaluationError) -> Value {
    let (left, right) = (try values[0].vector(of: function), try values[1].vector(of: function))
    guard left.count == right.count else {
      throw EvaluationError(
        "\(function)() takes vectors of equal length, not of \(left.count) and \(right.count) elements.")
    }
    return .double(measure(left, right))
  }
}

extension GeoPoint {
  /// The distance along a great circle, in meters (haversine formula, mean radius of the Earth).
  fileprivate func distance(to other: GeoPoint) -> Double {
    func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
    let latitudes = sin(radians(other.latitude - latitude) / 2)
    let longitudes = sin(radians(other.longitude - longitude) / 2)
    let half =
      latitudes * latitudes + cos(radians(latitude)) * cos(radians(other.latitude)) * longitudes * longitudes
    return 2 * 6_371_008.8 * asin(min(1, half.squareRoot()))
  }
}
