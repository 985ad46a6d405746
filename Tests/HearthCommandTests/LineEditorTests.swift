// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas
import Testing

@testable import CommandTransfer
@testable import DashboardHost
@testable import HearthCommand

/// Keys on the line of `hearth shell`.
@Suite struct LineEditorTests {
  /// Types keys by their names; text stands in quotes.
  private func type(_ keys: String..., history: [String] = []) -> (LineEditor, LineEditor.Outcome) {
    var editor = LineEditor(entries: history)
    var outcome = LineEditor.Outcome.nothing
    for key in keys {
      if key.hasPrefix("'") {
        for character in key.dropFirst() { outcome = editor.handle(.key(.character(character))) }
      } else if let key = Key(key) {
        outcome = editor.handle(.key(key))
      }
    }
    return (editor, outcome)
  }

  private func text(_ keys: String...) -> String {
    var editor = LineEditor(entries: [])
    for key in keys {
      if key.hasPrefix("'") {
        for character in key.dropFirst() { _ = editor.handle(.key(.character(character))) }
      } else if let key = Key(key) {
        _ = editor.handle(.key(key))
      }
    }
    let mark = editor.buffer.cursor
    return String(editor.buffer.characters[..<mark]) + "|" + String(editor.buffer.characters[mark...])
  }

  @Test("Emacs keys move and delete as in other shells")
  func keys() {
    #expect(text("'get cities", "ctrl-a", "ctrl-f", "ctrl-d") == "g|t cities")
    #expect(text("'get cities", "ctrl-w", "'towns") == "get towns|")
    #expect(text("'get a/b/c", "alt-backspace", "alt-b") == "get a/|b/")
    #expect(text("'get cities", "ctrl-u", "'x ", "ctrl-y") == "x get cities|")
    #expect(text("'one two", "ctrl-a", "ctrl-k", "'a", "ctrl-y", "ctrl-y") == "aone twoone two|")
    #expect(text("'ab", "left", "backspace", "'漢é", "right") == "漢éb|")
    #expect(text("'ab", "ctrl-t") == "ba|")
    #expect(text("'one two", "ctrl-left", "ctrl-left", "alt-d") == "| two")
    #expect(text("backspace", "delete", "ctrl-w", "ctrl-k", "ctrl-y", "left", "right", "ctrl-t") == "|")
  }

  @Test("Enter ends a complete input and continues one with an open quote or bracket")
  func submit() {
    #expect(type("'ls", "left", "enter").1 == .submit("ls"))
    let (editor, outcome) = type("'set a/b {", "enter", "'\"x\": 1")
    #expect(outcome == .edited && editor.buffer.text == "set a/b {\n\"x\": 1")
    #expect(type("'set a/b {", "enter", "'}", "enter").1 == .submit("set a/b {\n}"))
    #expect(text("'a '", "enter", "'bc", "up", "'x") == "a x|'\nbc")
  }

  @Test("Control keys end, interrupt and complete the input")
  func outcomes() {
    #expect(type("ctrl-d").1 == .end)
    #expect(type("'a", "ctrl-d").1 == .edited)
    #expect(type("'a", "ctrl-c").1 == .dropped)
    #expect(type("'a", "ctrl-c").0.buffer.isEmpty)
    #expect(type("tab").1 == .complete)
    #expect(type("ctrl-z").1 == .suspend)
    #expect(type("ctrl-l").1 == .clearScreen)
  }

  @Test("Up and down recall earlier input and keep the current text")
  func history() {
    let entries = ["count a", "get b"]
    #expect(type("'new", "up", history: entries).0.buffer.text == "get b")
    #expect(type("'new", "up", "up", "up", history: entries).0.buffer.text == "count a")
    #expect(type("'new", "up", "'!", "up", "down", history: entries).0.buffer.text == "get b!")
    #expect(type("'new", "up", "up", "down", "down", "down", history: entries).0.buffer.text == "new")
  }

  @Test("A search goes back through the history and can be canceled")
  func search() {
    let entries = ["count cities", "get cities", "ls"]
    let (found, _) = type("ctrl-r", "'cit", history: entries)
    #expect(found.buffer.text == "get cities" && found.prompt(ShellPrompt("> ")).text == "search 'cit': ")
    #expect(type("ctrl-r", "'cit", "ctrl-r", history: entries).0.buffer.text == "count cities")
    #expect(type("ctrl-r", "'cit", "ctrl-r", "enter", history: entries).1 == .submit("count cities"))
    #expect(type("'x", "ctrl-r", "'cit", "ctrl-g", history: entries).0.buffer.text == "x")
    #expect(type("ctrl-r", "'cit", "ctrl-a", "'a", history: entries).0.buffer.text == "aget cities")
    let (failed, _) = type("ctrl-r", "'zzz", history: entries)
    #expect(failed.prompt(ShellPrompt("> ")).text == "no entry with 'zzz': ")
    #expect(type("ctrl-r", "'cit", "up", history: entries).0.buffer.text == "count cities")
  }

  @Test("Pasted text is inserted literally, including line breaks")
  func paste() {
    var editor = LineEditor(entries: [])
    #expect(editor.handle(.paste("count a\r\nls\tx\r")) == .edited)
    #expect(editor.buffer.text == "count a\nls\tx\n")
  }

  @Test("A line takes as many rows as its width needs, with wide characters and marks")
  func layout() {
    let prompt = ShellPrompt("> ")
    func layout(_ text: String, cursor: Int, columns: Int) -> LineLayout {
      LineLayout(prompt: prompt, Array(text), cursor: cursor, columns: columns)
    }
    #expect(layout("abc", cursor: 3, columns: 10).rows == ["> abc"])
    #expect(layout("abcdef", cursor: 1, columns: 5).rows == ["> abc", "def"])
    let wide = layout("漢漢漢", cursor: 3, columns: 5)
    #expect(wide.rows == ["> 漢", "漢漢"] && wide.cursorRow == 1 && wide.cursorColumn == 4)
    let marks = layout("e\u{301}x", cursor: 1, columns: 10)
    #expect(marks.cursorColumn == 3 && marks.rows == ["> e\u{301}x"])
    let full = layout("abc", cursor: 3, columns: 5)
    #expect(full.rows == ["> abc", ""] && full.cursorRow == 1 && full.cursorColumn == 0)
    #expect(layout("a\n\u{1B}[2Jb", cursor: 0, columns: 20).rows == ["> a", "  ␛[2Jb"])
    let long = layout(String(repeating: "x", count: 50), cursor: 50, columns: 10)
    #expect(long.rows.count == 6 && long.visible(height: 3).rows.count == 3 && long.visible(height: 3).cursor == 2)
  }
}
