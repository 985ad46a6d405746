// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
public import Foundation

/// One event of a client, for the log of a program.
///
/// It names databases, numbers of writes and errors, no documents.
public struct FirestoreLogEntry: Hashable, Sendable {
  /// Whether an outage is told, its reason or its end; everything else is detail.
  public let isWarning: Bool
  /// The time at which the event was told.
  public let date: Date
  /// The full name of the database, such as `projects/my-app/databases/(default)`.
  public let database: String
  /// One line, with escapes for characters that could move a terminal's cursor, or reorder or hide text.
  public let message: String

  init(_ event: String, _ database: DatabaseID, isWarning: Bool = false) {
    self.isWarning = isWarning
    date = Date()
    self.database = database.name
    message = Firestore.printable(event)
  }
}

extension FirestoreLogEntry: CustomStringConvertible {
  /// The line that standard error gets.
  public var description: String { "\(date.formatted(.iso8601)) Hearth \(database): \(message)" }
}
