// SPDX-License-Identifier: Apache-2.0

/// The reason why the data or the cache is not where the user expects it.
package struct StorageNotice: Codable, Hashable, Sendable {
  /// A few words for the header: `IN MEMORY: cache locked`; `nil` for a notice that need not be there.
  package var badge: String?
  /// The event, and the remedy.
  package var message: String

  package init(badge: String? = nil, message: String) {
    self.badge = badge
    self.message = message
  }
}
