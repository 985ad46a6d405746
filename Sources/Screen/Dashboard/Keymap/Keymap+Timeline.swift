// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreText

/// The commands that move through a session's history and save sessions to files.
extension Keymap {
  static let timeline: [Command] =
    live.flatMap(earlier) + earlier(.past) + earlier(.replay) + past + replay
    + [.pane(.collections), .pane(.feed), .past, .replay].flatMap(snapshots)

  /// The contexts in which the keys for earlier and later events step through the session. In an open document, these
  /// keys select its versions.
  private static let live = [Pane.collections, .writes, .network, .feed].map(KeyContext.pane) + [.requests]

  private static func earlier(_ context: KeyContext) -> [Command] {
    let isLive = live.contains(context)
    return [
      Command(
        "earlier", ",", in: context, "show all panes as of the previous event", hint: isLive ? nil : "earlier", 1,
        run: { _ in [.timeline(.earlier)] }),
      Command(
        "later", ".", in: context, "show all panes as of the next event", hint: isLive ? nil : "later", 2,
        unless: { $0.past == nil ? "this is the present: press , for earlier moments" : nil },
        run: { _ in [.timeline(.later)] }),
    ]
  }

  /// The keys that step through the snapshots of one listener. They work in the listener's result and in its feed rows.
  private static func snapshots(_ context: KeyContext) -> [Command] {
    [
      Command(
        "earlier-snapshot", "(", in: context, "show the result and all panes as of this listener's previous snapshot",
        unless: { $0.reasonAgainstSnapshots },
        run: { state in state.steppedListener.map { [.timeline(.earlierSnapshot($0))] } ?? [] }),
      Command(
        "later-snapshot", ")", in: context, "show the result and all panes as of this listener's next snapshot",
        unless: { $0.past == nil ? "this is the present: press ( for earlier moments" : $0.reasonAgainstSnapshots },
        run: { state in state.steppedListener.map { [.timeline(.laterSnapshot($0))] } ?? [] }),
    ]
  }

  private static let past: [Command] = [
    Command(
      "return", "esc end q", in: .past, "return to the present", hint: "live", 0, run: { _ in [.timeline(.leave)] })
  ]

  private static let replay: [Command] = [
    Command(
      "play", "space", in: .replay, "play or stop",
      hint: Wording { $0.past?.replay?.isPlaying == true ? "stop" : "play" }, 0,
      run: { _ in [.timeline(.togglePlaying)] }),
    Command("faster", ">", in: .replay, "play faster", hint: "faster", 4, run: { _ in [.timeline(.faster)] }),
    Command("slower", "<", in: .replay, "play slower", hint: "slower", 5, run: { _ in [.timeline(.slower)] }),
    Command("start", "home", in: .replay, "go to the recording's start", run: { _ in [.timeline(.seek(.start))] }),
    Command("end", "end", in: .replay, "go to the recording's end", run: { _ in [.timeline(.seek(.end))] }),
  ]

  /// The palette-only commands.
  static let recording: [Command] = [
    Command(
      "at", "", in: .screen, "show all panes as of a time: at 12:04:16, at -30s",
      change: { $0.openPalette(typed: "at ") }),
    Command(
      "record", "", in: .screen, "record this session from its start: record FILE, record stop",
      unless: { $0.past?.isReplay == true ? "this is a replay: it cannot be recorded" : nil },
      change: { $0.openPalette(typed: "record ") }),
    Command(
      "cast", "", in: .screen, "record the screen, as asciicast: cast FILE, cast stop",
      change: { $0.openPalette(typed: "cast ") }),
    Command(
      "caption", "show a caption for an audience, in the last row and in the cast",
      CommandArgument(
        name: "TEXT", hint: "the text of the caption; without text the row shows the keys again", isOptional: true,
        read: { text, _ throws(TextError) in
          CommandArgument.Meaning(account: "caption: \(text)") { $0.show(caption: text) }
        }),
      alone: { $0.show(caption: "") }),
  ]
}

extension DashboardState {
  /// Shows a caption to the audience of a demo. An empty text removes it.
  mutating func show(caption: String) -> [Effect] {
    screen.show(caption: caption)
    return caption.isEmpty ? [] : [.recording(.mark(caption))]
  }
}
