// SPDX-License-Identifier: Apache-2.0

public import Foundation

// One model for an app and its server: Google's SDK where there is one, Hearth on Linux. Both have these names.
#if canImport(FirebaseFirestore)
  public import FirebaseFirestore
#else
  public import Hearth
#endif

/// A city, as it is stored.
public struct City: Codable, Sendable {
  /// The id of its document; `nil` for one that was not read.
  @DocumentID public var id: String?
  /// The time at which the backend stored it last.
  @ServerTimestamp public var updated: Date?
  public var name: String
  public var population: Int

  public init(name: String, population: Int) { (self.name, self.population) = (name, population) }
}

extension City {
  /// Cities of at least so many people, the largest first. The query is the same for a list on a phone, and for a
  /// server that answers it.
  public static func large(in db: Firestore, from population: Int) -> any Query {
    db.collection("cities").whereField("population", isGreaterThanOrEqualTo: population)
      .order(by: "population", descending: true)
  }
}
