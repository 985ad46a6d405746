// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery

/// A text field for a command's input: a name or a file.
package struct Prompt: Sendable {
  enum Subject: Hashable, Sendable {
    case rename(ListenerTag)
    case saveListeners
    case openListeners
    case export([ResourcePath]?)
    case bundle(BundleContents)
    case freeze
    case importFile(into: ResourcePath?)
  }

  package var title: String
  /// The label before the field.
  package var label: String
  /// The sentences that explain what the input is for.
  package var lead: [String]
  /// The hint in an empty field.
  package var ghost = ""
  package var field = TextField()
  var subject: Subject
  /// The reason why the input was rejected, until it changes.
  package var error: String?
}

extension DashboardState {
  /// Shows a prompt. Its initial text is selected.
  mutating func ask(_ prompt: Prompt) {
    var prompt = prompt
    prompt.field = prompt.field.selected()
    overlay = .prompt(prompt)
  }

  mutating func askForListenerName(_ tag: ListenerTag) {
    guard let listener = listeners.first(where: { $0.tag == tag }) else { return }
    ask(
      Prompt(
        title: "Rename \(listener.name)", label: "name",
        lead: ["Shown with the listener, and found by filters. If empty, it is made from the query."],
        ghost: ListenerRecord.defaultName(for: listener.query), field: TextField(listener.isNamed ? listener.name : ""),
        subject: .rename(tag)))
  }

  mutating func askWhereToSaveListeners() {
    let count = listeners.count
    ask(
      Prompt(
        title: "Save \(count) listener\(count == 1 ? "" : "s")", label: "file",
        lead: ["A TOML file that you can edit and share: open it here, or with hearth --listeners FILE."],
        field: TextField("listeners.toml"), subject: .saveListeners))
  }

  mutating func askForListenerFile() {
    ask(
      Prompt(
        title: "Open listeners", label: "file",
        lead: ["Each listener of the file is started next to the open ones."], ghost: "listeners.toml",
        subject: .openListeners))
  }

  /// Handles `enter`: runs the command with the input, or shows why the input is invalid.
  mutating func acceptPrompt() -> [Effect] {
    guard let prompt = overlay?.prompt else { return [] }
    let text = prompt.field.text.trimmed
    if case .rename(let tag) = prompt.subject { return rename(tag, asTyped: text) }
    guard !text.isEmpty else {
      overlay?.prompt?.error = "type the name of a file"
      return []
    }
    overlay = nil
    switch prompt.subject {
    case .rename: return []
    case .saveListeners: return [.terminal(.saveListeners(listenerDefinitions, file: text))]
    case .openListeners: return [.terminal(.openListeners(file: text))]
    case .export(let paths): return start(.export(paths, file: text))
    case .bundle(let contents): return start(.bundle(contents, file: text))
    case .freeze: return start(.freezing(nil, file: text))
    case .importFile(let path): return start(.importing(file: text, into: path))
    }
  }

  private mutating func rename(_ tag: ListenerTag, asTyped text: String) -> [Effect] {
    guard let listener = listeners.first(where: { $0.tag == tag }) else {
      overlay = nil
      return []
    }
    if !text.isEmpty, let reason = reason(against: text, besides: tag) {
      overlay?.prompt?.error = reason
      return []
    }
    overlay = nil
    rename(
      tag, to: text.isEmpty ? freeName(like: ListenerRecord.defaultName(for: listener.query), besides: tag) : text)
    return []
  }
}
