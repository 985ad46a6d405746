// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel

/// Options that are spelled like those of Google's emulator, so that scripts can start `hearth serve` instead of the
/// emulator.
struct EmulatorOptions: ParsableArguments {
  @Option(
    name: [.customLong("host-port"), .customLong("host_port")],
    help: ArgumentHelp("The address and port to listen on, as in gcloud.", valueName: "host:port"))
  var hostPort: String?

  @Option(
    name: [.customLong("project-id"), .customLong("project_id"), .customLong("project")],
    help: ArgumentHelp(
      "The project of --import-data and --export-on-exit, or its alias in .firebaserc. Default: the project of "
        + ".firebaserc, else the project of the import.",
      valueName: "project"))
  var projectID: String?

  @Option(
    name: [.customLong("import-data"), .customLong("import_data"), .customLong("seed_from_export")],
    help: ArgumentHelp(
      "Start with the documents of an export in Google's format: its folder, or the file in it that ends with "
        + ".overall_export_metadata.",
      valueName: "path"))
  var importData: String?

  @Option(
    name: [.customLong("export-on-exit"), .customLong("export_on_exit")],
    help: ArgumentHelp(
      "At the end, write the database to this folder in Google's format. A complete export replaces an older one. "
        + "Default: the folder of --import-data.", valueName: "folder"))
  var exportOnExit: String?

  @Option(
    name: [.customLong("export-name"), .customLong("export_name")],
    help: ArgumentHelp("Write the export to a subfolder of --export-on-exit with this name.", valueName: "name"))
  var exportName: String?

  @Flag(
    name: [.customLong("single_project_mode"), .customLong("single-project-mode")],
    help: "Warn about requests for other projects than --project-id.")
  var singleProjectMode = false

  @Flag(
    name: [.customLong("single_project_mode_error"), .customLong("single-project-mode-error")],
    help: "Reject requests for other projects than --project-id.")
  var singleProjectModeError = false

  // Options without effect here.
  @Option(name: [.customLong("functions_emulator"), .customLong("functions-emulator")], help: .hidden)
  var functionsEmulator: String?
  @Option(name: [.customLong("websocket_port"), .customLong("websocket-port")], help: .hidden)
  var webSocketPort: Int?
  @Option(name: [.customLong("webchannel_port"), .customLong("webchannel-port")], help: .hidden)
  var webChannelPort: Int?
  @Option(name: [.customLong("database-mode"), .customLong("database_mode")], help: .hidden)
  var databaseMode: String?
  @Option(name: [.customLong("database-edition"), .customLong("database_edition")], help: .hidden)
  var databaseEdition: String?

  func validate() throws {
    _ = try address()
    if exportName != nil, exportOnExit == nil {
      throw ValidationError("--export-name needs --export-on-exit FOLDER.")
    }
    if let exportName, exportName.isEmpty || exportName.hasPrefix(".") || exportName.contains("/") {
      throw ValidationError("Invalid --export-name \(exportName). Use a name without a slash or a leading dot.")
    }
    if exportOnExit?.isEmpty == true { throw ValidationError("--export-on-exit needs a folder.") }
    if isSingleProject, projectID == nil {
      throw ValidationError("--single_project_mode needs a project. Add --project-id.")
    }
    if let projectID, projectID.isEmpty || projectID.contains(where: { $0 == "/" || $0.isWhitespace }) {
      throw ValidationError("Invalid --project-id \"\(projectID)\". An id is not empty and has no slashes or spaces.")
    }
    if let mode = databaseMode, !["firestore-native", "cloud_firestore"].contains(mode.lowercased()) {
      throw ValidationError(
        "--database-mode \(mode) is not supported, only native mode. Remove the option, or use Google's emulator.")
    }
  }

  private var isSingleProject: Bool { singleProjectMode || singleProjectModeError }

  /// The host and port of `--host-port`; `nil` if it is not given.
  func address() throws -> (host: String, port: Int)? {
    guard let hostPort else { return nil }
    let colon = hostPort.lastIndex(of: ":")
    let number = colon.map { hostPort[hostPort.index(after: $0)...] } ?? ""
    guard let colon, let port = Int(number), (0...65_535).contains(port), number.allSatisfy(\.isASCII) else {
      throw ValidationError("Invalid --host-port \(hostPort). Use HOST:PORT, as in localhost:8080 or [::1]:8080.")
    }
    var host = hostPort[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    return (host.isEmpty ? "127.0.0.1" : String(host), port)
  }

  /// Warnings about options that are accepted but have no effect.
  var remarks: [String] {
    var remarks: [String] = []
    if functionsEmulator != nil { remarks.append("--functions_emulator has no effect: Hearth calls no functions.") }
    if webSocketPort != nil {
      remarks.append(
        "--websocket_port has no effect. Rule decisions are on the server's port, at /requests.")
    }
    if webChannelPort != nil { remarks.append("--webchannel_port has no effect: browsers use the same port.") }
    if databaseEdition != nil { remarks.append("--database-edition has no effect: there is only one edition.") }
    return remarks
  }

  /// The check of the project in a request. Databases of other projects are rejected, or served with a warning.
  /// - Parameter remark: called once for each database.
  func objection(_ remark: @escaping @Sendable (String) -> Void) -> @Sendable (DatabaseID) -> RPCStatus? {
    guard isSingleProject, let projectID else { return { _ in nil } }
    let isError = singleProjectModeError
    return { database in
      if database.project == projectID { return nil }
      let text = "\(database.name) was requested, but this server is for the project \(projectID) only"
      if isError {
        return RPCStatus(
          .invalidArgument, "\(text). Use that project, or start the server without --single_project_mode_error.")
      }
      remark("\(text). The request is served. --single_project_mode_error would reject it.")
      return nil
    }
  }
}
