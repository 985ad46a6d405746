// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel

/// The project and the database to write to, where a place on the command line cannot say them.
package struct DestinationOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Write to this project.", valueName: "id"))
  var toProject: String?

  @Option(help: ArgumentHelp("Write to this database.", valueName: "id"))
  var toDatabase: String?

  package var isNamed: Bool { toProject != nil || toDatabase != nil }

  package mutating func validate() throws {
    for (name, id) in [("--to-project", toProject), ("--to-database", toDatabase)] {
      if let id { try StorageOptions.check(id, name) }
    }
  }

  /// The locations with this project and database; a part that no option names is that of `locations`.
  package func applied(to locations: StorageOptions.Locations) -> StorageOptions.Locations {
    var locations = locations
    locations.database = DatabaseID(
      project: toProject ?? locations.database.project, database: toDatabase ?? locations.database.database)
    return locations
  }

  package init() {}
}
