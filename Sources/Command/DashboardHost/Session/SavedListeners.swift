// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOptions
import CommandOutput
import Dashboard
import DashboardModel
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import Foundation

import enum Hearth.PathComponent

/// The listeners of a database that are started again at the next start. There is a file for each database in the state
/// folder. The file is written whenever listeners are started or stopped.
struct SavedListeners {
  let path: String
  /// The file's name in messages.
  private let name: String
  private let identity: CacheIdentity
  private let database: DatabaseID
  /// The contents of the file; `nil` if the file must be written again.
  private var kept: [ListenerDefinition]? = []
  /// Whether nothing is written. This is so if the file has contents that would be lost, or if a failure to write was
  /// already reported.
  private var isRefused = false

  init(of identity: CacheIdentity, _ database: DatabaseID, in paths: Paths) {
    self.identity = identity
    self.database = database
    path = "\(paths.listenerFolder)/\(PathComponent.escaped(identity.description)).toml"
    name = paths.short(path)
  }

  /// - Returns: the saved listeners, and notices about invalid entries. A file with invalid entries is renamed before a
  ///   new file is written.
  mutating func read() -> (definitions: [ListenerDefinition], notices: [String]) {
    guard FileManager.default.fileExists(atPath: path) else { return ([], []) }
    let file: ListenerFile
    do throws(CommandFailure) {
      file = try ListenerFile.read(path, name: name, database: database)
    } catch {
      kept = nil
      return ([], ["\(error.message) \(setAside())"])
    }
    kept = file.problems.isEmpty ? file.definitions : nil
    if file.problems.isEmpty { return (file.definitions, []) }
    return (file.definitions, file.problems + ["Some open listeners could not be read: \(setAside())"])
  }

  /// Renames the current file. If that fails, disables writing.
  private mutating func setAside() -> String {
    for number in 1...99 {
      let suffix = number == 1 ? ".bad" : ".bad-\(number)"
      if FileManager.default.fileExists(atPath: path + suffix) { continue }
      do {
        try FileManager.default.copyItem(atPath: path, toPath: path + suffix)
        return "the original file is kept in \(name)\(suffix)."
      } catch {
        break
      }
    }
    isRefused = true
    return "\(name) stays unchanged, so listeners opened now are not restored. Fix it, or move it away."
  }

  /// Writes the running listeners if they have changed since the last write.
  /// - Returns: a notice, once, if the file cannot be written.
  mutating func keep(_ definitions: [ListenerDefinition]) -> [String] {
    guard !isRefused, definitions != kept else { return [] }
    kept = definitions
    let (text, left) = ListenerFile.text(
      of: definitions, heading: "Listeners that hearth opens again: \(identity)", database: database)
    do throws(CommandFailure) {
      try Self.write(text, path)
    } catch {
      isRefused = true
      return ["\(error.message) Open listeners are not restored at the next start."]
    }
    return left.isEmpty ? [] : ["\(left.joined(separator: ", ")): not saved for the next start."]
  }

  private static func write(_ text: String, _ path: String) throws(CommandFailure) {
    let folder = OutputPlace.split(path).folder
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFailure(.cannotCreate, "\(folder) cannot be created.")
    }
    try TextFile.write(text, to: path, mode: 0o600)
  }
}

/// Saving the running listeners for the next start, and to files.
extension Session {
  /// Starts the listeners of the last session with this database, and those that the command line names.
  func restoreListeners(of connection: BackendConnection) {
    if options.restoresListeners, let identity = connection.identity {
      var kept = SavedListeners(of: identity, connection.database, in: options.paths)
      let (definitions, notices) = kept.read()
      if !options.isWall { keptListeners = kept }
      apply(.open(definitions, at: .now))
      let names = definitions.map(\.name)
      if !names.isEmpty {
        let listed = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
        notify(.info, "Reopened: \(listed). Press W to change them, or start with --no-restore.")
      }
      for notice in notices { notify(.warning, notice) }
    }
    apply(.open(options.listeners, at: .now))
    if options.listensToRoot, state.listeners.isEmpty { rootListening = RootListening() }
  }

  /// Saves the running listeners after a change.
  func keepListeners() {
    for notice in keptListeners?.keep(clientSet.first.session.shown.listenerDefinitions) ?? [] {
      notify(.warning, notice)
    }
  }

  func saveListeners(_ definitions: [ListenerDefinition], _ file: String, replaces: Bool) {
    let path = UserPath.absolute(file)
    if !replaces, FileManager.default.fileExists(atPath: path) {
      let save = TerminalEffect.saveListeners(definitions, file: file, replaces: true)
      return apply(
        .host(
          .question(
            title: "Replace a file", body: ["\(file) exists.", "The whole file is replaced."], action: "Replace",
            HeldEffects([.terminal(save)])), at: .now))
    }
    let database = options.storage.database
    let (text, left) = ListenerFile.text(
      of: definitions, heading: "Listeners for hearth --listeners FILE, or to be opened in the dashboard",
      database: database)
    do throws(CommandFailure) {
      guard case .file(let name) = try OutputPlace(path) else {
        throw CommandFailure(.cannotCreate, "\(file) is not a regular file.")
      }
      try TextFile.write(text, to: name)
    } catch {
      return notify(.error, error.message)
    }
    let count = definitions.count - left.count
    notify(.info, "\(count) listener\(count == 1 ? "" : "s") saved to \(file)")
    if !left.isEmpty { notify(.warning, "not in \(file): \(left.joined(separator: ", "))") }
  }

  func openListeners(_ file: String) {
    do throws(CommandFailure) {
      let read = try ListenerFile.read(UserPath.absolute(file), name: file, database: options.storage.database)
      apply(.host(.listenersRead(read.definitions, from: file), at: .now))
      if read.definitions.isEmpty, read.problems.isEmpty { notify(.info, "\(file) has no listeners") }
      for problem in read.problems { notify(.warning, problem) }
    } catch {
      notify(.error, error.message)
    }
  }
}

/// Starts a listener for each root collection once, when the collection becomes known.
struct RootListening {
  private var known: Set<String> = []

  init() {}

  /// - Returns: the queries for which listeners must be started after an action.
  mutating func queries(after action: Action) -> [Query] {
    guard case .client(.collections(let parent, let ids), _) = action, parent.isRoot else { return [] }
    return ids.filter { known.insert($0).inserted }.map { Query(path: ResourcePath($0)) }
  }
}
