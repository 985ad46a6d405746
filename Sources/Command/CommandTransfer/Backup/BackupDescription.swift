// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreJSON
package import FirestoreModel
import FirestoreText

/// The content of a backup, as `backup.json` tells it.
package struct BackupDescription: Hashable, Sendable {
  /// The version of the folder's layout.
  private static let format: Int64 = 1

  package var database: DatabaseID
  /// The time as of which the documents are; `nil` if each is as it was when its turn came.
  package var time: Timestamp?
  package var documents: Int

  package init(database: DatabaseID, time: Timestamp?, documents: Int) {
    (self.database, self.time, self.documents) = (database, time, documents)
  }

  var json: String {
    var fields =
      [
        "format": .integer(Self.format), "project": .string(database.project), "database": .string(database.database),
        "documents": .integer(Int64(documents)),
      ] as Fields
    if let time { fields["time"] = .string(time.rfc3339Text) }
    return DocumentJSON.text(of: fields) + "\n"
  }

  /// - Parameter name: the file's name in messages.
  /// - Throws: `badData`, also for the layout of a later version.
  init(parsing text: String, name: String) throws(CommandFailure) {
    let json: JSONSyntax
    do throws(JSONError) { json = try JSONSyntax(parsing: text) } catch {
      throw CommandFailure(.badData, "\(name), \(error)")
    }
    guard case .integer(let format)? = json["format"]?.kind, format <= Self.format else {
      throw CommandFailure(.badData, "\(name) is of a later version of hearth, or of something else.")
    }
    guard case .string(let project)? = json["project"]?.kind, case .string(let database)? = json["database"]?.kind,
      case .integer(let documents)? = json["documents"]?.kind
    else { throw CommandFailure(.badData, "\(name) does not say what the backup holds.") }
    self.init(database: DatabaseID(project: project, database: database), time: nil, documents: Int(documents))
    if case .string(let text)? = json["time"]?.kind {
      do { time = try InstantText.parse(text) } catch {
        throw CommandFailure(.badData, "\(name): \"\(text)\" is no time.")
      }
    }
  }
}
