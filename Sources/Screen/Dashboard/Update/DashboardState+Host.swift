// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreModel

/// Events of the text editor, of files, questions and messages.
extension DashboardState {
  mutating func receive(_ event: HostEvent) -> [Effect] {
    switch event {
    case .editConflict(let conflict): interject(.list(ListOverlay(content: .decision(Decision(conflict)))))
    case .undoConflict(let conflict): interject(.list(ListOverlay(content: .decision(Decision(conflict)))))
    case .editorFailed(let request, let line, let column, let reason):
      interject(
        .confirm(
          Confirmation(
            title: "Not written", body: ["line \(line), column \(column): \(reason)", "Your text is kept."],
            action: "Edit again", subject: .editAgain(request), isActionSelected: true)))
    case .editorGaveUp(let reason):
      toast(.warning, reason)
      if let editor = typing.editing.takeBack() { interject(.fields(editor)) }
    case .created(let key):
      toast(.info, "new document \(key.path.text)")
      return locate(key)
    case .listenersRead(let definitions, let file): return receive(definitions, from: file)
    case .question(let title, let body, let action, let held):
      overlay = .confirm(Confirmation(title: title, body: body, action: action, subject: .perform(held.effects)))
    case .notice(let kind, let text): toast(kind, text)
    case .marked(let text): feed.append(FeedRow(time: now, kind: .divider, summary: text))
    case .stepped(let line): feed.step = line
    case .transferring(let progress): receive(progress)
    case .transferred(let account): return receive(account)
    case .dataElsewhere(let database): browser.otherDatabase = database
    }
    return []
  }
}

extension HostEvent {
  /// Whether the user can step to the action when stepping from event to event.
  var isStep: Bool {
    switch self {
    case .transferring, .stepped, .dataElsewhere: false
    default: true
    }
  }
  /// Whether the event tells the user something new. Replies to keys and messages of this program do not count.
  var isNews: Bool {
    switch self {
    case .marked, .transferring, .transferred: true
    case .stepped, .listenersRead, .question, .notice, .editorFailed, .editorGaveUp, .created, .editConflict,
      .undoConflict, .dataElsewhere:
      false
    }
  }
}
