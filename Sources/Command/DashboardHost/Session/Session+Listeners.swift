// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import Dashboard
import DashboardModel
import Foundation

/// Listeners that outlive the session: the ones open at its end, and the ones in files.
extension Session {
  /// Opens the listeners that the database's last session had open, and those that the command line names.
  func restoreListeners(of connection: BackendConnection) {
    if options.restoresListeners, let identity = connection.identity {
      var kept = KeptListeners(of: identity, connection.database, in: options.paths)
      let (definitions, notices) = kept.read()
      if !options.isWall { keptListeners = kept }
      apply(.open(definitions, at: .now))
      let names = definitions.map(\.name)
      if !names.isEmpty {
        let listed = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
        notify(.info, "Open again: \(listed). W changes them; --no-restore starts without.")
      }
      for notice in notices { notify(.warning, notice) }
    }
    apply(.open(options.listeners, at: .now))
    if options.listensToRoot, state.listeners.isEmpty { rootListening = RootListening() }
  }

  /// Writes down what is open now, if that has changed.
  func keepListeners() {
    for notice in keptListeners?.keep(stage.first.session.shown.listenerDefinitions) ?? [] { notify(.warning, notice) }
  }

  func saveListeners(_ definitions: [ListenerDefinition], _ file: String, replaces: Bool) {
    let path = UserPath.absolute(file)
    if !replaces, FileManager.default.fileExists(atPath: path) {
      let save = TerminalEffect.saveListeners(definitions, file: file, replaces: true)
      return apply(
        .client(
          .question(
            title: "Replace a file", body: ["\(file) exists.", "It is replaced as a whole."], action: "Replace",
            HeldEffects([.terminal(save)])), at: .now))
    }
    let database = options.storage.database
    let (text, left) = ListenerFile.text(
      of: definitions, heading: "Listeners for hearth --listeners FILE, or to be opened in the dashboard",
      database: database)
    do throws(CommandFailure) {
      guard case .file(let name) = try OutputPlace(path) else {
        throw CommandFailure(.cannotCreate, "\(file) is no regular file.")
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
      apply(.client(.listenersRead(read.definitions, from: file), at: .now))
      if read.definitions.isEmpty, read.problems.isEmpty { notify(.info, "\(file) has no listeners") }
      for problem in read.problems { notify(.warning, problem) }
    } catch {
      notify(.error, error.message)
    }
  }
}
