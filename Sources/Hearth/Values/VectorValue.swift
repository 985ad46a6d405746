// SPDX-License-Identifier: Apache-2.0

/// A vector of numbers, which Firestore stores apart from arrays. Made by `FieldValue.vector(_:)`.
public struct VectorValue: Hashable, Sendable {
  public let array: [Double]

  public init(_ array: [Double]) { self.array = array }
  public init(_ array: [Float]) { self.array = array.map(Double.init) }
}
