// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import CommandOutput
import CommandTransfer
package import Dashboard
package import DashboardModel
import DatastoreTapping
import FirestoreModel
import Foundation
import Terminal

/// Recording the session to files.
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

  /// Starts to record the session when the session starts.
  private func startRecording(_ path: String) throws(CommandFailure) {
    if let recorder {
      throw CommandFailure(.usage, "\(recorder.path) is already being recorded. 'record stop' ends it.")
    }
    if options.replay != nil {
      throw CommandFailure(.usage, "A replay cannot be recorded.")
    }
    guard dashboard.log.all != nil else {
      throw CommandFailure(
        .failure, "The session is too long to record: its start was discarded. Use 'hearth record FILE' next time."
      )
    }
    var request = RecordingRequest(path: Self.expanded(path))
    // The tap has only the messages of the first client.
    request.keepsMessages = tap != nil && clientSet.focusIndex == 0
    request.limit = options.recordingFiles.recording?.limit ?? RecordingRequest.standardLimit
    try Self.requireNew(request.path)
    try record(request)
    let whose = clientSet.isShared ? " \(clientSet.focused.name)'s screen" : ""
    notify(.info, "Recording\(whose) to \(path), from the session's start.")
  }

  /// Rejects an existing file, because the dashboard has no option to replace it.
  static func requireNew(_ path: String) throws(CommandFailure) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    throw CommandFailure(.cannotCreate, "\(path) already exists. Choose another name.")
  }

  /// Creates the file, writes the session so far, and continues to record.
  package func record(_ request: RecordingRequest) throws(CommandFailure) {
    let past = dashboard.log.all
    let first = past?.base ?? dashboard.live
    var configuration = first.configuration
    configuration.scenarios = []
    let header = RecordingHeader(start: first.now, size: first.size, configuration: configuration)
    let recorder = try FileRecorder(request, header) { [weak self] reason in
      self?.recorder = nil
      self?.notify(.error, "The recording \(request.path) ended: \(reason). The session continues.")
    }
    for action in past?.actions ?? [] { recorder.note(.action(action), cost: 0) }
    self.recorder = recorder
    recorded = clientSet.focused.number
  }

  func startCast(_ path: String, replaces: Bool) throws(CommandFailure) {
    if let cast { throw CommandFailure(.usage, "\(cast.file.path) is already being recorded. 'cast stop' ends it.") }
    let cast = try Cast(path, size: screen.size, replaces: replaces) { [weak self] reason in
      self?.cast = nil
      self?.screen.onFrame = nil
      self?.notify(.error, "The cast \(path) ended: \(reason). The session continues.")
    }
    screen.onFrame = { frame, size in cast.note(frame, size) }
    self.cast = cast
    // A player of the cast begins with an empty screen.
    screen.invalidate()
    setNeedsFrame(for: .input)
  }

  private func stop<Item>(_ file: FileRecorder<Item>?, _ what: String, _ forget: () -> Void) {
    guard let file else { return notify(.info, "No \(what) is in progress.") }
    forget()
    Task {
      await file.finish("stopped by the user")
      notify(.info, "The \(what) \(file.path) is complete.")
    }
  }

  /// Writes the items that are not yet written, and closes the files.
  func endFiles() async {
    screen.onFrame = nil
    keepMessages(isEnd: true)
    await recorder?.finish("the session ended")
    await cast?.file.finish("the session ended")
  }

  /// The path in which `~` is replaced by the home folder.
  static func expanded(_ path: String) -> String {
    guard path.hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"] else { return path }
    return home + path.dropFirst()
  }
}

/// Describes a file to which a session is recorded.
package struct RecordingRequest: Sendable {
  package static let standardLimit = 64 << 20

  var path: String
  /// The maximum size of the file in bytes.
  var limit: Int
  var replaces: Bool
  /// Whether the messages between the client and its datastore are also recorded.
  var keepsMessages: Bool
  /// Determines which values are removed from the recording; `nil` for none.
  var redaction: Redaction?

  package init(
    path: String, limit: Int = Self.standardLimit, replaces: Bool = false, keepsMessages: Bool = false,
    redaction: Redaction? = nil
  ) {
    self.path = path
    self.limit = limit
    self.replaces = replaces
    self.keepsMessages = keepsMessages
    self.redaction = redaction
  }
}

/// An item that is written to the file.
package enum RecordedItem: Sendable {
  case header(RecordingHeader)
  case action(Action)
  case message(ProtocolEvent)
}

extension FileRecorder where Item == RecordedItem {
  /// - Throws: a one-line failure for a file that cannot be created.
  convenience init(
    _ request: RecordingRequest, _ header: RecordingHeader, ended: @escaping @MainActor (String) -> Void
  ) throws(CommandFailure) {
    var header = header
    let redaction = request.redaction
    header.redacted = redaction?.names
    let redactor = redaction.map { RecordingRedactor($0, header) }
    let sink = try LineSink<RecordedItem>(request.path, limit: request.limit, replaces: request.replaces) { item in
      switch item {
      case .header(let header): return RecordingLine.data(header)
      case .action(let action):
        guard let redactor else { return RecordingLine.data(action) }
        return redactor.redacted(action).reduce(into: Data()) { data, action in
          data.append(RecordingLine.data(action))
        }
      case .message(let message):
        return redactor?.line(of: message) ?? RecordingLine.data(RecordedMessage(event: message))
      }
    } last: { reason in
      RecordingLine.data(RecordingEnd(end: reason, at: .now))
    }
    self.init(request.path, sink, ended: ended)
    note(.header(redactor?.header ?? header), cost: 512)
  }
}

/// The files to which a session is recorded.
package struct RecordingFiles: Sendable {
  var recording: RecordingRequest?
  var cast: String?
  var replaces: Bool

  package init(recording: RecordingRequest? = nil, cast: String? = nil, replaces: Bool = false) {
    (self.recording, self.cast, self.replaces) = (recording, cast, replaces)
  }
}

/// A recorded session, and how to replay it.
package struct ReplayRequest: Sendable {
  package var recording: Recording
  package var playback: Playback
  /// The position at which the replay starts; `nil` for the beginning.
  package var place: TimelinePlace?

  package init(recording: Recording, playback: Playback, place: TimelinePlace? = nil) {
    (self.recording, self.playback, self.place) = (recording, playback, place)
  }

  /// - Parameter viewer: the dashboard that shows the replay. Its size, theme and keys are used.
  package func session(for viewer: DashboardState) -> DashboardSession {
    var session = DashboardSession(
      replaying: recording.header.initialState, recording.actions, viewer: viewer, playback, at: viewer.now)
    if let place { session.go(to: place) }
    return session
  }
}
