// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import CommandTransfer
import Dashboard
package import DashboardModel
import FirestoreModel
import Foundation
import Terminal

/// Files that record the session.
extension Session {
  package func perform(_ effect: RecordingEffect) {
    do {
      switch effect {
      case .start(let path): try startRecording(path)
      case .shot(let file, let fields): try takeShot(file, without: fields)
      case .stop: stop(recorder, "recording") { recorder = nil }
      case .startCast(let path):
        let file = Self.expanded(path)
        if cast == nil { try Self.requireNew(file) }
        try startCast(file, replaces: false)
      case .mark(let text): cast?.mark(text)
      case .stopCast:
        stop(cast?.file, "cast") {
          cast = nil
          screen.onFrame = nil
        }
      }
    } catch {
      notify(.error, error.message)
    }
  }

  /// Records the session from its start, as far as its log reaches.
  private func startRecording(_ path: String) throws(CommandFailure) {
    if let recorder {
      throw CommandFailure(.usage, "\(recorder.path) is being recorded already; record stop ends it.")
    }
    if options.replay != nil {
      throw CommandFailure(.usage, "This is a replay: there is nothing new to record.")
    }
    guard dashboard.log.all != nil else {
      throw CommandFailure(
        .failure, "The session is too old for that: its start is not kept any more. Start it with 'hearth record FILE'."
      )
    }
    var request = RecordingRequest(path: Self.expanded(path))
    // The messages that are kept are those of the first client.
    request.keepsMessages = tap != nil && stage.focusIndex == 0
    request.limit = options.keeping.recording?.limit ?? RecordingRequest.standardLimit
    try Self.requireNew(request.path)
    try record(request)
    let whose = stage.isShared ? " what \(stage.focused.name) shows" : ""
    notify(.info, "Recording\(whose) to \(path), from the session's start.")
  }

  /// Refuses a file that is there: inside the dashboard no option replaces it.
  static func requireNew(_ path: String) throws(CommandFailure) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    throw CommandFailure(.cannotCreate, "\(path) is there already: choose another name.")
  }

  /// Opens the file and writes the session so far.
  package func record(_ request: RecordingRequest) throws(CommandFailure) {
    let past = dashboard.log.all
    let first = past?.base ?? dashboard.live
    var configuration = first.configuration
    configuration.scenarios = []
    let header = RecordingHeader(start: first.now, size: first.size, configuration: configuration)
    let recorder = try FileRecorder(request, header) { [weak self] reason in
      self?.recorder = nil
      self?.notify(.error, "The recording \(request.path) ended: \(reason). The session goes on.")
    }
    for action in past?.actions ?? [] { recorder.note(.action(action), cost: 0) }
    self.recorder = recorder
    recorded = stage.focused.number
  }

  func startCast(_ path: String, replaces: Bool) throws(CommandFailure) {
    if let cast { throw CommandFailure(.usage, "\(cast.file.path) is being recorded already; cast stop ends it.") }
    let cast = try Cast(path, size: screen.size, replaces: replaces) { [weak self] reason in
      self?.cast = nil
      self?.screen.onFrame = nil
      self?.notify(.error, "The cast \(path) ended: \(reason). The session goes on.")
    }
    screen.onFrame = { frame, size in cast.note(frame, size) }
    self.cast = cast
    // A player of the cast begins with an empty screen.
    screen.invalidate()
    setNeedsFrame(for: .input)
  }

  private func stop<Item>(_ file: FileRecorder<Item>?, _ what: String, _ forget: () -> Void) {
    guard let file else { return notify(.info, "No \(what) is being made.") }
    forget()
    Task {
      await file.finish("stopped by the user")
      notify(.info, "The \(what) \(file.path) is complete.")
    }
  }

  /// Writes waiting items and ends the files.
  func endFiles() async {
    screen.onFrame = nil
    keepMessages(isEnd: true)
    await recorder?.finish("the session ended")
    await cast?.file.finish("the session ended")
  }

  /// A path with the home folder in place of `~`.
  static func expanded(_ path: String) -> String {
    guard path.hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"] else { return path }
    return home + path.dropFirst()
  }
}
