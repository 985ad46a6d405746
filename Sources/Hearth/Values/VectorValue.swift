// SPDX-License-Identifier: Apache-2.0

/// A vector of numbers, which Firestore stores apart from arrays. Made by `FieldValue.vector(_:)`.
public struct VectorValue: Hashable, Sendable {
  /// The components.
  public let array: [Double]

  /// At most 2 048 components can be written.
  public init(_ array: [Double]) { self.array = array }
  /// As with doubles.
  public init(_ array: [Float]) { self.array = array.map(Double.init) }
}
