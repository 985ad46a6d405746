// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ClientPort
import CommandOptions
import CommandOutput
import Dashboard
import DashboardHost
import DashboardModel
import FirestoreLocal
import FirestoreModel
import Foundation

/// `hearth record FILE`: opens the dashboard and records the session.
struct RecordCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Open the dashboard, and record the session to a file.",
    discussion: """
      The file is NDJSON with everything that was shown and typed. Only you may read it. 'hearth replay' shows it \
      again, 'hearth redact' removes values. The other options are the same as for the dashboard.
      """)

  @Argument(help: ArgumentHelp("The recording, which must not exist yet.", valueName: "file"))
  var file: String

  @Flag(
    help: "Also record each message between the client and its backend, as protocol JSON without tokens.")
  var messages = false

  @Option(help: ArgumentHelp("Stop the recording at this size, such as 500MB.", valueName: "size"))
  var limit: String?

  @Option(
    help: ArgumentHelp(
      "Record only the type and the length of these fields; all means every field.", valueName: "fields"))
  var redact: String?

  @Flag(name: .customLong("hash-ids"), help: "Replace the ids of documents by hashes.")
  var hidesIDs = false

  @OptionGroup var dashboard: DashboardOptions

  mutating func validate() throws {
    if let limit, ByteCountText.parse(limit).map({ $0 < 4096 }) ?? true {
      throw ValidationError("--limit \(limit): use a size such as 500MB, at least 4KB.")
    }
  }

  @MainActor
  mutating func run() async throws {
    try await dashboard.run(
      recording: RecordingRequest(
        path: file, limit: limit.flatMap(ByteCountText.parse) ?? RecordingRequest.standardLimit,
        replaces: dashboard.force, keepsMessages: messages,
        redaction: redact != nil || hidesIDs ? Redaction(redact ?? "", hidesIDs: hidesIDs) : nil))
  }
}

/// `hearth replay FILE`: shows a recorded session on the screen, or prints its protocol messages.
struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Show a recorded session again, without a client.",
    discussion: "space plays and pauses; , and . move by one event.")

  @Argument(help: ArgumentHelp("The recording; - reads standard input.", valueName: "file"))
  var file: String

  @Option(help: ArgumentHelp("Speed factor, max, or step to advance by hand.", valueName: "factor"))
  var speed: String?

  @Option(help: ArgumentHelp("Start at this time (12:04:16) or at this event (42).", valueName: "time"))
  var at: String?

  @Flag(help: "Print the recorded protocol messages, one per line, instead of showing the session.")
  var messages = false

  @Flag(help: "With --messages: print them as JSON, one object per line.")
  var json = false

  @Option(help: ArgumentHelp("Record the screen for asciinema: the bytes of each frame.", valueName: "file"))
  var cast: String?

  @Flag(help: "With --cast: overwrite an existing file.")
  var force = false

  @OptionGroup var appearance: AppearanceOptions
  @OptionGroup var log: LogOptions

  mutating func validate() throws {
    let ofScreen = [(speed != nil, "--speed"), (at != nil, "--at"), (cast != nil, "--cast")]
    if messages, let option = ofScreen.first(where: { $0.0 }) {
      throw ValidationError("--messages prints lines, but \(option.1) needs the screen. Remove one of them.")
    }
    if json, !messages { throw ValidationError("--json needs --messages.") }
    if force, cast == nil { throw ValidationError("--force needs --cast.") }
    _ = try playback()
    _ = try TimelinePlace.parse(at)
  }

  private func playback() throws -> Playback {
    switch speed {
    case nil: return Playback(speed: .times(1), isPlaying: true)
    case "max": return Playback(speed: .max, isPlaying: true)
    case "step": return Playback(speed: .times(1), isPlaying: false)
    case let text?:
      guard let factor = Double(text.hasPrefix("x") ? String(text.dropFirst()) : text), factor >= 0.01, factor <= 1000
      else {
        throw ValidationError("--speed \(text): use a number from 0.01 to 1000, max, or step.")
      }
      return Playback(speed: .times(factor), isPlaying: true)
    }
  }

  @MainActor
  mutating func run() async throws {
    if messages {
      let recording = try Recording(path: file)
      for problem in recording.problems { StandardError.write("hearth: \(problem)") }
      return try MessageReport.print(recording, asJSON: json)
    }
    let start = try ScreenStart(appearance, log, otherwise: "'hearth draw 80x24 --replay \(file)' prints one screen")
    let replay = ReplayRequest(
      recording: try Recording(path: file), playback: try playback(), place: try TimelinePlace.parse(at))
    let nowhere = StorageOptions.Locations(
      database: replay.recording.header.configuration.database, cache: .memory, backend: .embedded(folder: nil))
    var options = start.options(nowhere, replay.recording.problems)
    options.recordingFiles = RecordingFiles(cast: cast, replaces: force)
    options.subject = .recording(replay)
    try await start.run(options)
  }
}

extension TimelinePlace {
  /// - Returns: `nil` if there is no text.
  /// - Throws: `ValidationError` if the text is not a position in a recording.
  static func parse(_ text: String?) throws -> TimelinePlace? {
    guard let text else { return nil }
    guard let place = TimelinePlace(text) else {
      throw ValidationError("--at \(text): use a time such as 12:04:16, or the number of an event.")
    }
    return place
  }
}

/// `hearth redact`: copies a recorded session without the values of some fields.
struct RedactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "redact", abstract: "Copy a recorded session without the values of some fields.",
    discussion: """
      Keeps the type and the length of each value. Typed text becomes the same number of x, and edited texts are \
      removed. With all, messages of servers are also removed, because they may quote values. In protocol messages \
      (record FILE --messages), values without a field name are also removed. Lines that cannot be read are left out. \
      The command reports what it removed.

      Exit status: 65, and nothing is written, if a field of --fields is not in the recording.
      """)

  @Argument(help: ArgumentHelp("The recording; - for standard input.", valueName: "in"))
  var input: String

  @Argument(help: ArgumentHelp("The copy, which must not exist yet; - for standard output.", valueName: "out"))
  var output: String

  @Option(help: ArgumentHelp("Names of fields, separated by commas, or all.", valueName: "fields"))
  var fields = "all"

  @Flag(name: .customLong("hash-ids"), help: "Replace the ids of documents by hashes.")
  var hidesIDs = false

  @Flag(help: "Overwrite an existing file.")
  var force = false

  func run() throws {
    let recording = try Recording(path: input)
    recording.problems.forEach { StandardError.write("hearth: \($0)") }
    let redaction = Redaction(fields, hidesIDs: hidesIDs)
    let redactor = RecordingRedactor(redaction, recording.header)
    var copy = RecordingLine.data(redactor.header)
    var messages = recording.messages[...]
    func copyMessages(before place: Int) {
      while let message = messages.first, message.place <= place {
        copy.append(redactor.line(of: message.event))
        messages.removeFirst()
      }
    }
    for (index, action) in recording.actions.enumerated() {
      copyMessages(before: index)
      for action in redactor.redacted(action) { copy.append(RecordingLine.data(action)) }
    }
    copyMessages(before: recording.actions.count)
    if let end = recording.end { copy.append(RecordingLine.data(end)) }
    try redaction.account.check(redaction.names)
    try write(String(decoding: copy, as: UTF8.self))
    StandardError.write("hearth: \(redaction.account.text)")
  }

  private func write(_ copy: String) throws {
    if output == "-" {
      let out = OutputFile.standard()
      try out.data(copy)
      return try out.finish()
    }
    if !force, access(output, F_OK) == 0 {
      throw CommandFailure(
        .cannotCreate, "\(output) already exists. Choose another name, or overwrite it with --force.")
    }
    let file = try FileReplacement(of: output, mode: 0o600)
    let out = OutputFile(file.descriptor, output)
    do {
      try out.data(copy)
      try out.flush()
      try file.commit()
    } catch {
      file.discard()
      throw error
    }
  }
}
