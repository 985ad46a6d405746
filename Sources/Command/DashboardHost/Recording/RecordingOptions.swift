// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import Dashboard
import DashboardModel
import TerminalTheme

/// The options that record a session, or replay a recorded one.
package struct RecordingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Keep the session in a file, as NDJSON with everything that was seen and typed; only you may read it. \
      'hearth redact' takes values out.
      """, valueName: "file"))
  package var record: String?

  @Flag(
    help: """
      With --record: keep each message between the client and its backend too, as protocol JSON without tokens. With \
      --replay: print those of the recording, a line each, and show no session.
      """)
  package var messages = false

  @Option(
    help: ArgumentHelp("With --record: end the recording at this size, such as 500MB.", valueName: "size"))
  var recordLimit: String?

  @Option(
    help: ArgumentHelp(
      "With --record: leave of these fields only the type and the length; all for every field.", valueName: "fields"))
  package var redact: String?

  @Flag(name: .customLong("hash-ids"), help: "With --record: give documents other ids.")
  package var hidesIDs = false

  @Option(
    help: ArgumentHelp("Record the screen for asciinema: the bytes of each frame.", valueName: "file"))
  var cast: String?

  @Flag(help: "With --record and --cast: overwrite files that are there.")
  package var force = false

  @Option(
    help: ArgumentHelp(
      "Show a recorded session; no client is opened and nothing is written. - reads standard input.",
      valueName: "file"))
  package var replay: String?

  @Option(
    help: ArgumentHelp("With --replay: how many times as fast, max, or step to go on by hand.", valueName: "factor"))
  package var speed: String?

  @Option(
    help: ArgumentHelp(
      "With --replay: begin at this moment, 12:04:16, or 42 for an event.", valueName: "time"))
  package var at: String?

  /// - Parameter playsScript: whether a picture plays a script, of which a cast can be made.
  package func validate(isPlain: Bool, isDemo: Bool, isPicture: Bool, playsScript: Bool = false) throws {
    if replay != nil {
      let other = [(isPlain, "--plain"), (isDemo, "--demo"), (record != nil, "--record")].first { $0.0 }
      if let other { throw ValidationError("--replay shows a session that is over; leave \(other.1) out.") }
    } else if let option = [(speed, "--speed"), (at, "--at")].first(where: { $0.0 != nil }) {
      throw ValidationError("\(option.1) is about --replay; give both.")
    }
    let kept = [(record, "--record"), (isPicture && playsScript ? nil : cast, "--cast")]
    if isPlain || isPicture, let option = kept.first(where: { $0.0 != nil }) {
      throw ValidationError("\(option.1) keeps what the dashboard shows; leave \(isPlain ? "--plain" : "--frame") out.")
    }
    if messages, record == nil, replay == nil {
      throw ValidationError("--messages is about --record or --replay; give one of them.")
    }
    if messages, replay != nil, isPicture || speed != nil || at != nil {
      throw ValidationError("--replay FILE --messages prints lines; leave --frame, --speed and --at out.")
    }
    if record == nil {
      let option = [(recordLimit != nil, "--record-limit"), (redact != nil, "--redact"), (hidesIDs, "--hash-ids")]
      if let option = option.first(where: { $0.0 }) {
        throw ValidationError("\(option.1) is about --record; give both.")
      }
    }
    if force, record == nil, cast == nil { throw ValidationError("--force is about --record and --cast.") }
    if let recordLimit, ByteCountText.parse(recordLimit).map({ $0 < 4096 }) ?? true {
      throw ValidationError("--record-limit \(recordLimit): give a size such as 500MB, at least 4KB.")
    }
    _ = try playback()
    if let at, TimelinePlace(at) == nil {
      throw ValidationError("--at \(at): write a time as 12:04:16, or the number of an event.")
    }
  }

  private func playback() throws -> Playback {
    switch speed {
    case nil: return Playback(speed: .times(1), isPlaying: true)
    case "max": return Playback(speed: .max, isPlaying: true)
    case "step": return Playback(speed: .times(1), isPlaying: false)
    case let text?:
      guard let factor = Double(text.hasPrefix("x") ? String(text.dropFirst()) : text), factor >= 0.01, factor <= 1000
      else {
        throw ValidationError("--speed \(text): give a number from 0.01 to 1000, max, or step.")
      }
      return Playback(speed: .times(factor), isPlaying: true)
    }
  }

  package var keeping: Keeping {
    Keeping(
      recording: record.map { path in
        RecordingRequest(
          path: path, limit: recordLimit.flatMap(ByteCountText.parse) ?? RecordingRequest.standardLimit,
          replaces: force, keepsMessages: messages,
          redaction: redact != nil || hidesIDs ? Redaction(redact ?? "", hidesIDs: hidesIDs) : nil)
      },
      cast: cast, replaces: force)
  }

  /// - Returns: `nil` if no session is replayed.
  package func replayed() throws -> ReplayRequest? {
    guard let replay else { return nil }
    return ReplayRequest(
      recording: try Recording(path: replay), playback: try playback(), place: at.flatMap(TimelinePlace.init))
  }

  package init() {}
}
