// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreLocal
import FirestoreModel

/// Where the data is: the backend, the database, and the client's cache. Every command that touches data has these.
struct StorageOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Project of the embedded backend.", valueName: "id"))
  var project = "hearth"

  @Option(help: ArgumentHelp("Database of the project.", valueName: "id"))
  var database = "(default)"

  @Option(help: ArgumentHelp("Folder of the client's cache and queue of pending writes.", valueName: "dir"))
  var cache: String?

  @Option(help: ArgumentHelp("Folder of the embedded backend's data.", valueName: "dir"))
  var data: String?

  @Flag(help: "Keep the backend's data and the cache in memory only.")
  var inMemory = false

  mutating func validate() throws {
    for (name, id) in [("project", project), ("database", database)] where id.isEmpty || id.contains("/") {
      throw ValidationError("--\(name) \"\(id)\" is not an id: it must not be empty or contain a slash.")
    }
  }

  struct Locations: Sendable {
    var database: DatabaseID
    var cache: StorageLocation
    var backend: BackendChoice
  }

  func locations(_ paths: Paths) -> Locations {
    let name = database == "(default)" ? "default" : database
    return Locations(
      database: DatabaseID(project: project, database: database),
      cache: inMemory ? .memory : .directory(cache ?? "\(paths.data)/cache/\(project)/\(name)"),
      backend: .embedded(folder: inMemory ? nil : data ?? "\(paths.data)/backend"))
  }
}
