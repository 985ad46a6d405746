// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreGRPC
import FirestoreLocal
import FirestoreModel
import Foundation

/// Where the data is: the backend, the database, and the client's cache. Every command that touches data has these.
struct StorageOptions: ParsableArguments {
  @OptionGroup var remote: RemoteOptions

  @Option(
    help: ArgumentHelp(
      "Project. Default: that of the key file or of $GOOGLE_CLOUD_PROJECT, else hearth.", valueName: "id"))
  var project: String?

  @Option(help: ArgumentHelp("Database of the project.", valueName: "id"))
  var database = "(default)"

  @Option(help: ArgumentHelp("Folder of the client's cache and queue of pending writes.", valueName: "dir"))
  var cache: String?

  @Option(help: ArgumentHelp("Folder of the embedded backend's data.", valueName: "dir"))
  var data: String?

  @Flag(help: "Keep the backend's data and the cache in memory only.")
  var inMemory = false

  mutating func validate() throws {
    for (name, id) in [("project", project), ("database", database)] {
      guard let id, id.isEmpty || id.contains("/") else { continue }
      throw ValidationError("--\(name) \"\(id)\" is not an id: it must not be empty or contain a slash.")
    }
    do {
      if let remote = try remoteBackend(), data != nil {
        throw ValidationError("--data is the embedded backend's, but \(remote.endpoint.text) is to be used.")
      }
    } catch let error as ModelError {
      throw ValidationError(error.message)
    }
  }

  struct Locations: Sendable {
    var database: DatabaseID
    var cache: StorageLocation
    var backend: BackendChoice
  }

  func locations(_ paths: Paths) -> Locations {
    // An address that is none was refused by `validate`.
    let remote = try? remoteBackend()
    let project = project ?? (remote == nil ? nil : self.remote.project(environment: Self.environment)) ?? "hearth"
    let name = database == "(default)" ? "default" : database
    // Backends may know the same project with other documents.
    let place = remote.map { "remote/\($0.endpoint.text)/" } ?? ""
    return Locations(
      database: DatabaseID(project: project, database: database),
      cache: inMemory ? .memory : .directory(cache ?? "\(paths.data)/cache/\(place)\(project)/\(name)"),
      backend: remote.map { .remote($0) } ?? .embedded(folder: inMemory ? nil : data ?? "\(paths.data)/backend"))
  }

  /// The environment names a backend only where the options name none.
  private func remoteBackend() throws(ModelError) -> RemoteBackend? {
    try remote.choice(environment: data == nil && !inMemory ? Self.environment : [:])
  }

  /// The option or variable that names a backend outside of this process; `nil` where the embedded one is used.
  var namedBackend: String? {
    if remote.emulator != nil { return "--emulator" }
    if remote.cloud { return "--cloud" }
    if remote.credentials != nil { return "--credentials" }
    if remote.host != nil { return "--host" }
    guard data == nil, !inMemory, Self.environment[RemoteOptions.emulatorVariable]?.isEmpty == false else { return nil }
    return "$\(RemoteOptions.emulatorVariable)"
  }

  private static var environment: [String: String] { ProcessInfo.processInfo.environment }
}
