// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Glibc
import Synchronization
import Testing

@testable import CommandTransfer
@testable import DashboardHost
@testable import HearthCommand

@Suite("Clipboard")
struct ClipboardTests {
  /// Copies with the given programs at work; tells what was sent to the terminal as well.
  private func copy(
    _ text: String, _ environment: [String: String], working: Set<String> = [], command: String? = nil,
    file: Clipboard.File? = nil
  ) async -> (outcome: Clipboard.Outcome, sent: [String], tried: [String]) {
    let tried = Mutex<[String]>([])
    let outcome = await Clipboard(environment: environment, command: command, file: file).copy(text) { program, _ in
      let line = ([program.name] + program.arguments).joined(separator: " ")
      tried.withLock { $0.append(line) }
      return working.contains(line) || working.contains(program.name)
    }
    return (outcome, [outcome.sequence].compactMap(\.self), tried.withLock { $0 })
  }

  @Test(
    "Copying uses the first method that works and reports its name",
    arguments: [
      (["WAYLAND_DISPLAY": "w", "DISPLAY": ":0"], "wl-copy", "Copied 3 bytes via wl-copy."),
      (["WAYLAND_DISPLAY": "w", "DISPLAY": ":0"], "xclip", "Copied 3 bytes via xclip."),
      (["DISPLAY": ":0", "TMUX": "t"], "xsel", "Copied 3 bytes via xsel."),
      (["DISPLAY": ":0", "TMUX": "t", "SSH_CONNECTION": "c"], "tmux load-buffer -w -", "Copied 3 bytes via tmux."),
      (["TMUX": "t"], "tmux load-buffer -", "Copied 3 bytes via tmux's own buffer."),
    ])
  func ways(environment: [String: String], working: String, message: String) async {
    let result = await copy("abc", environment, working: [working])

    #expect(result.outcome == Clipboard.Outcome(isCopied: true, message: message))
    #expect(result.sent == [])
    #expect(result.tried.last?.hasPrefix(working) == true)
  }

  @Test("Without a clipboard program, copying uses the terminal and lists the failures")
  func terminal() async {
    let plain = await copy("é", [:])
    #expect(plain.sent == ["\u{1b}]52;c;w6k=\u{7}"] && plain.tried == [])
    #expect(plain.outcome.message == "Sent 2 bytes to the terminal's clipboard (OSC 52), which does not confirm it.")
    let failed = await copy("a", ["DISPLAY": ":0", "TMUX": "t"])
    #expect(failed.sent.count == 1 && failed.tried.count == 4)
    #expect(failed.outcome.message.hasSuffix("does not confirm it. xclip, xsel, tmux failed."))
  }

  @Test("Copied text over the terminal's limit is not sent, and the error gives the limit")
  func limit() async {
    let most = String(repeating: "x", count: 56_244)
    let fits = await copy(most, [:])
    #expect(fits.sent.count == 1 && fits.outcome.isCopied)
    let result = await copy(most + "x", [:])
    #expect(result.sent == [] && !result.outcome.isCopied)
    #expect(
      result.outcome.message
        == "Nothing was copied: 56245 bytes are too long for the terminal (OSC 52, at most 56244). "
        + "Copy less, or install wl-copy or xclip.")
    #expect(await copy(most + "x", ["TMUX": "t"], working: ["tmux"]).outcome.isCopied)
  }

  @Test("The configured copy command is tried first, also over ssh")
  func own() async {
    let environment = ["WAYLAND_DISPLAY": "w", "TMUX": "t", "SSH_CONNECTION": "c"]
    let works = await copy("abc", environment, working: ["sh"], command: "nc -q0 desk 5556")
    #expect(works.outcome == Clipboard.Outcome(isCopied: true, message: "Copied 3 bytes via nc."))
    #expect(works.tried == ["sh -c nc -q0 desk 5556"])
    let fails = await copy("abc", environment, working: ["tmux"], command: "nc -q0 desk 5556")
    #expect(fails.outcome.message == "Copied 3 bytes via tmux.")
    let alone = await copy("abc", [:], command: "nc -q0 desk 5556")
    #expect(alone.sent.count == 1 && alone.outcome.message.hasSuffix("does not confirm it. nc failed."))
  }

  @Test("Text that no copy method accepts is saved in a private file with a notice")
  func file() async throws {
    let folder = try TemporaryFolder.made()
    let path = folder.path + "/state/clip"
    let text = String(repeating: "é", count: 40_000)
    let result = await copy(text, [:], file: Clipboard.File(path: path, name: "~/clip"))
    #expect(result.sent == [] && result.outcome.isCopied)
    #expect(
      result.outcome.message.hasPrefix("Saved to ~/clip, not to the clipboard: 80000 bytes are too long"))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)

    // A short text is not written down.
    let short = await copy("abc", [:], file: Clipboard.File(path: folder.path + "/other", name: "~/other"))
    #expect(short.sent.count == 1 && !FileManager.default.fileExists(atPath: folder.path + "/other"))
    let nowhere = await copy(text, [:], file: Clipboard.File(path: "/dev/null/clip", name: "~/clip"))
    #expect(!nowhere.outcome.isCopied && nowhere.outcome.message.contains("/dev/null/clip cannot be written"))
  }

  @Test("A clipboard program that is missing, fails or reads no input counts as a failure")
  func programs() async {
    // As `hearth` does from its start.
    signal(SIGPIPE, SIG_IGN)
    let large = String(repeating: "x", count: 1 << 20)
    for (name, arguments, works) in [
      ("hearth-no-such-program", [], false), ("false", [], false), ("cat", [], true), ("sh", ["-c", "exit 3"], false),
    ] {
      #expect(await Clipboard.run(Clipboard.Program(name: name, arguments: arguments), on: large) == works, "\(name)")
    }
  }
}

@Suite("External editor")
struct UserEditorTests {
  @Test(
    "A missing external editor is reported with its variable and advice",
    arguments: [
      (
        [:], 127,
        "No editor: neither $VISUAL nor $EDITOR is set, and vi was not found. Set one of them; nothing was written."
      ),
      (
        ["EDITOR": "nvim -n"], 127,
        "No editor: nvim -n from $EDITOR was not found. Set $VISUAL or $EDITOR; nothing was written."
      ),
      (
        ["VISUAL": "/tmp", "EDITOR": "vi"], 126,
        "No editor: /tmp from $VISUAL cannot be run. Set $VISUAL or $EDITOR; nothing was written."
      ),
      (["EDITOR": "vi"], 1, "The editor (vi) ended with status 1; nothing was written."), (["EDITOR": "vi"], 0, nil),
    ])
  func failure(environment: [String: String], status: Int32, message: String?) {
    #expect(UserEditor(environment: environment).failure(status) == message)
  }

  @Test("$VISUAL has priority over $EDITOR and vi, and the shell parses their options")
  func command() {
    func command(_ environment: [String: String]) -> String {
      UserEditor(environment: environment).command(for: "/f")[2]
    }
    #expect(command(["VISUAL": "code -w", "EDITOR": "vi"]) == "code -w \"$1\"")
    #expect(command(["VISUAL": "", "EDITOR": "nano"]) == "nano \"$1\"")
    #expect(command([:]) == "vi \"$1\"")
  }
}
