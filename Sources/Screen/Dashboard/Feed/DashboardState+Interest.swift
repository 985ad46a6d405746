// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreModel

extension DashboardState {
  /// The order in which fields of a collection's documents are worth telling.
  package func interest(in collection: ResourcePath) -> FieldInterest {
    FieldInterest(
      browser.statistics[collection] ?? FieldStatistics(), picked: browser.columns[collection]?.picked)
  }
}
