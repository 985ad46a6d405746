// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

/// A document's fields edited in place, key by key, and the write that comes of it.
@Suite("Field editor")
struct FieldEditorTests {
  static let order = document(
    "orders/a",
    [
      "count": 3, "gift": false, "items": ["kettle", "tray"], "note": "two\nlines", "paidAt": .timestamp(at(0)),
      "shipTo": ["city": "Delft", "x y": ["z": 1]],
    ])

  /// The document open in pane 0, and the editor over it.
  static func driver(_ size: Size = Size(width: 120, height: 36), _ order: Document = order) -> Driver {
    var driver = Driver(size)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow([order], total: 1, at: 0.1)
    driver.press("g l j enter")
    driver.client(.detail(order.key, remote: order, overlay: nil, local: order), at: 0.2)
    return driver
  }

  /// Goes to a field of the editor.
  static func select(_ path: [String], _ driver: inout Driver) {
    driver.state.overlay?.fieldEditor?.select(path)
    #expect(driver.state.overlay?.fieldEditor?.selectedPath == path)
  }

  static func opened(at path: [String]? = nil) -> Driver {
    var driver = driver()
    driver.press("E")
    if let path { select(path, &driver) }
    return driver
  }

  /// What is sent when the edit is reviewed and confirmed.
  static func sent(_ driver: inout Driver) -> FieldEdit? {
    driver.press("ctrl-s enter")
    for case .client(.edit(let edit)) in driver.effects { return edit }
    return nil
  }

  static func retype(_ text: String, _ driver: inout Driver) {
    driver.press("enter ctrl-e ctrl-u")
    driver.type(text)
    driver.press("enter")
  }

  // MARK: Values

  @Test("Enter edits a value in place, and only that field is sent")
  func value() {
    var driver = Self.driver()
    driver.press("0 g enter")
    #expect(driver.state.overlay?.kind == .fieldValue)
    driver.press("ctrl-u")
    driver.type("4")
    driver.press("enter")
    let edit = Self.sent(&driver)
    #expect(edit?.mutation(of: Self.order.key) == patch("orders/a", ["count": 4]))
    #expect(edit?.base == Self.order.data?.fields && driver.state.overlay == nil)
  }

  @Test("From the tree, E opens a document and its field editor")
  func tree() {
    var driver = Driver()
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow([Self.order], total: 1, at: 0.1)
    driver.press("g l j E")
    #expect(driver.effects == [.client(.openDetail(Self.order.key))])
    #expect(driver.state.overlay?.kind == .fields && driver.screen.contains("nothing is changed"))
  }

  @Test(
    "A new field's type is inferred from its text, as in hearth set",
    arguments: [
      ("873965", .integer(873_965)), ("1.5", .double(1.5)), ("true", .boolean(true)), ("null", .null),
      ("\"42\"", .string("42")), ("Oslo", .string("Oslo")), (" two words ", .string(" two words ")),
      ("users/ada", .string("users/ada")), ("string:42", .string("42")), ("[1, 2]", .array([1, 2])),
      ("{\"a\": 1}", .map(["a": 1])), ("2026-03-02T11:58:03Z", .timestamp(Timestamp(seconds: 1_772_452_683))),
      ("", .string("")),
    ] as [(String, Value)])
  func inferred(_ text: String, _ value: Value) {
    var driver = Self.opened()
    driver.press("a")
    driver.type("fresh")
    driver.press("tab")
    driver.type(text)
    driver.press("enter")
    #expect(Self.sent(&driver)?.fields["fresh"] == value)
  }

  @Test("Ambiguous text is accepted only after you choose a type")
  func questioned() {
    var driver = Self.opened()
    driver.press("a")
    driver.type("fresh")
    driver.press("enter")
    driver.type("TRUE")
    #expect(driver.screen.contains("Did you mean true?"))
    driver.press("enter")
    #expect(driver.state.overlay?.kind == .fieldValue)
    driver.press("ctrl-t s enter")
    #expect(Self.sent(&driver)?.fields["fresh"] == .string("TRUE"))
  }

  @Test("Enter on a value moves to the next row; after a new field it adds another field")
  func goingOn() {
    var driver = Self.opened(at: ["count"])
    driver.press("enter ctrl-u")
    driver.type("4")
    driver.press("enter enter")
    #expect(driver.state.overlay?.fieldEditor?.selectedPath == ["gift"])
    driver.press("esc a")
    driver.type("x1")
    driver.press("enter")
    driver.type("7")
    driver.press("enter enter")
    driver.type("x2")
    driver.press("tab")
    driver.type("8")
    driver.press("tab")
    #expect(driver.state.overlay?.kind == .fieldName)
    driver.press("esc")
    let edit = Self.sent(&driver)
    #expect(edit?.fields["count"] == 4 && edit?.fields["x1"] == 7 && edit?.fields["x2"] == 8)
  }

  @Test("Changing the type keeps the text, which is marked while it is invalid")
  func type() {
    var driver = Self.opened(at: ["count"])
    driver.press("t s")
    #expect(driver.screen.contains("string"))
    driver.press("enter")
    #expect(Self.sent(&driver)?.fields["count"] == .string("3"))

    driver = Self.opened(at: ["note"])
    driver.press("t i")
    #expect(driver.screen.contains("column 1: an integer has digits only"))
    driver.press("enter")
    #expect(driver.state.overlay?.kind == .fieldValue, "it is no integer yet")
    driver.press("ctrl-n ctrl-p ctrl-p enter")
    #expect(driver.state.overlay?.fieldEditor?.hasUnsentEdits == false, "a string again, as it was")
  }

  @Test("ctrl-n cycles the types, and converting a number keeps its digits")
  func cycle() {
    var driver = Self.opened(at: ["count"])
    driver.press("enter ctrl-n enter")
    #expect(Self.sent(&driver)?.fields["count"] == .double(3))
  }

  @Test("Space toggles a boolean, and null and server times accept no input")
  func quick() {
    var driver = Self.opened(at: ["gift"])
    driver.press("space")
    Self.select(["note"], &driver)
    driver.press("t n")
    Self.select(["count"], &driver)
    driver.press("t t ctrl-u")
    driver.type("2026-03-02T11:58:03.123456789Z")
    #expect(driver.screen.contains("the server keeps microseconds"))
    driver.press("enter")
    let edit = Self.sent(&driver)
    #expect(edit?.fields["gift"] == .boolean(true) && edit?.fields["note"] == .null)
    #expect(edit?.fields["count"] == .timestamp(Timestamp(seconds: 1_772_452_683, nanoseconds: 123_456_789)))
  }

  @Test("A multi-line string keeps its lines, and ctrl-j adds a line break")
  func lines() {
    var driver = Self.opened(at: ["note"])
    driver.press("enter ctrl-e ctrl-j")
    driver.type("three")
    driver.send(.input(.paste("\nfour"), at: driver.now))
    #expect(driver.screen.contains("4 lines"))
    driver.press("enter")
    #expect(Self.sent(&driver)?.fields["note"] == "two\nlines\nthree\nfour")
  }

  @Test("Arrow keys move in multi-line text, and change the type of short text")
  func box() {
    var driver = Self.opened(at: ["note"])
    driver.press("enter")
    #expect(driver.screen.contains("two") && driver.screen.contains("lines"))
    driver.press("up ctrl-a")
    driver.type("the ")
    driver.press("down")
    driver.type("X")
    driver.press("enter")
    #expect(Self.sent(&driver)?.fields["note"] == "the two\nlineXs")

    driver = Self.opened(at: ["count"])
    driver.press("enter down enter")
    #expect(Self.sent(&driver)?.fields["count"] == .double(3))
  }

  @Test("In the review, w switches between writing all fields and only the changes")
  func whole() {
    var driver = Self.opened(at: ["count"])
    Self.retype("4", &driver)
    driver.press("ctrl-s w")
    #expect(driver.screen.contains("set orders/a") && driver.screen.contains("fields that others add in the meantime"))
    driver.press("w")
    #expect(driver.screen.contains("update orders/a"))
    driver.press("w enter")
    var edits: [FieldEdit] = []
    for case .client(.edit(let edit)) in driver.effects { edits.append(edit) }
    var fields = Self.order.data?.fields ?? Fields()
    fields["count"] = 4
    #expect(
      edits.first?.mutation(of: Self.order.key)
        == Mutation(key: Self.order.key, operation: .set(fields), precondition: .exists(true)))
  }

  @Test("Typing and pasting are rejected if the text would be too long to edit")
  func long() {
    let long = String(repeating: "x", count: 30_000)
    var driver = Self.driver(Size(width: 80, height: 24), document("orders/a", ["text": .string(long)]))
    driver.press("E")
    driver.press("enter")
    #expect(driver.state.toasts.last?.text.contains("$EDITOR") == true)
    driver.press("a")
    driver.type("n")
    driver.press("enter")
    driver.send(.input(.paste(long), at: driver.now))
    #expect(driver.state.overlay?.field?.isEmpty == true)
    #expect(driver.state.toasts.last?.text.contains("nothing was pasted") == true)
  }

  // MARK: Fields

  @Test("The key a adds a field at a path, even inside maps and with quoted names")
  func adding() {
    var driver = Self.opened(at: ["count"])
    driver.press("a")
    driver.type("shipTo.`x y`.new")
    driver.press("enter")
    driver.type("here")
    driver.press("enter a ctrl-u")
    driver.type("deep.er")
    driver.press("enter ctrl-t i")
    driver.type("5")
    driver.press("enter")
    let edit = Self.sent(&driver)
    #expect(edit?.fields[FieldPath(segments: ["shipTo", "x y", "z"])] == 1)
    guard case .patch(let fields, let mask)? = edit?.mutation(of: Self.order.key)?.operation else {
      Issue.record("no update")
      return
    }
    #expect(mask == FieldMask([FieldPath(segments: ["deep", "er"]), FieldPath(segments: ["shipTo", "x y", "new"])]))
    #expect(fields == ["deep": ["er": 5], "shipTo": ["x y": ["new": "here"]]])
  }

  @Test(
    "An invalid name or a path through a non-map is rejected with the reason",
    arguments: [
      ("a..b", "segment is empty"), ("__x__", "reserved"), ("__name__", "document's own name"),
      ("count.x", "count is not a map: its type is integer"), ("items.x", "items is an array: select it"),
    ])
  func names(_ name: String, _ reason: String) {
    var driver = Self.opened(at: ["count"])
    driver.press("a")
    driver.type(name)
    driver.press("enter")
    #expect(driver.state.overlay?.kind == .fieldName && driver.screen.contains(reason))
  }

  @Test("x deletes a field, x again restores it, and u reverts any change")
  func deleting() {
    var driver = Self.opened(at: ["note"])
    driver.press("x")
    #expect(driver.screen.contains("deleted") && driver.screen.contains("update: mask [note]"))
    driver.press("x")
    #expect(driver.screen.contains("nothing is changed"))
    driver.press("d")
    Self.select(["shipTo", "city"], &driver)
    driver.press("x")
    Self.select(["gift"], &driver)
    driver.press("space u")
    guard case .patch(let fields, let mask)? = Self.sent(&driver)?.mutation(of: Self.order.key)?.operation else {
      Issue.record("no update")
      return
    }
    #expect(fields.isEmpty && mask == FieldMask([FieldPath("note"), FieldPath(segments: ["shipTo", "city"])]))
  }

  @Test("Editing an array element notes that the whole array is written")
  func arrays() {
    var driver = Self.opened(at: ["items", "0"])
    #expect(driver.screen.contains("in the array items, which is written as a whole"))
    Self.retype("pot", &driver)
    Self.select(["items"], &driver)
    driver.press("a")
    driver.type("cup")
    driver.press("enter")
    Self.select(["items", "1"], &driver)
    driver.press("x ctrl-s")
    #expect(driver.screen.contains("mask items") && driver.screen.contains("written as a whole: items"))
    driver.press("esc")
    #expect(
      Self.sent(&driver)?.mutation(of: Self.order.key) == patch("orders/a", ["items": .array(["pot", "cup"])]))
  }

  @Test("A map is typed as JSON, and only its differences are written")
  func json() {
    var driver = Self.opened(at: ["shipTo"])
    driver.press("enter ctrl-e ctrl-u")
    driver.type("{\"city\": \"Delft\", \"x y\": {\"z\": ")
    #expect(driver.screen.contains("column 32"))
    driver.type("2}}")
    driver.press("enter")
    guard case .patch(_, let mask)? = Self.sent(&driver)?.mutation(of: Self.order.key)?.operation else {
      Issue.record("no update")
      return
    }
    #expect(mask == FieldMask([FieldPath(segments: ["shipTo", "x y", "z"])]))
  }

  // MARK: Transforms

  @Test(
    "A transform is chosen like a type, and its field is not in the mask",
    arguments: [
      ("T", "", .serverTimestamp), ("+", "2", .increment(.integer(2))), ("+", "-0.5", .increment(.double(-0.5))),
      (">", "10", .maximum(.integer(10))), ("<", "1.5", .minimum(.double(1.5))),
      ("A", "[\"a\", 1]", .arrayUnion(["a", 1])), ("R", "[\"a\"]", .arrayRemove(["a"])),
    ] as [(String, String, FieldTransform.Operation)])
  func transforms(_ letter: String, _ text: String, _ operation: FieldTransform.Operation) {
    var driver = Self.opened(at: ["count"])
    driver.press("t")
    driver.type(letter)
    #expect(driver.state.overlay?.field?.text != "3", "what the field holds is not what is added to it")
    if !text.isEmpty {
      driver.press("ctrl-u")
      driver.type(text)
      driver.press("enter")
    }
    #expect(driver.state.overlay?.kind == .fields)
    driver.press("ctrl-s")
    #expect(driver.screen.contains("1 transform, which the server computes") && driver.screen.contains("mask empty"))
    driver.press("enter")
    guard case .client(.edit(let edit))? = driver.effects.first else {
      Issue.record("nothing was sent")
      return
    }
    let mutation = edit.mutation(of: Self.order.key)
    #expect(mutation?.operation == .patch(Fields(), FieldMask([])))
    #expect(mutation?.transforms == [FieldTransform(path: FieldPath("count"), operation: operation)])
  }

  @Test("A transform in a new map has a row, and typing a value replaces the transform")
  func computed() {
    var driver = Self.opened(at: ["count"])
    driver.press("a ctrl-u")
    driver.type("stats.at")
    driver.press("enter ctrl-t")
    driver.type("T")
    #expect(
      driver.state.overlay?.fieldEditor?.selectedPath == ["stats", "at"] && driver.screen.contains("server time"))
    driver.press("t s")
    driver.type("never")
    driver.press("enter")
    let edit = Self.sent(&driver)
    #expect(edit?.transforms.isEmpty == true && edit?.fields["stats"] == .map(["at": "never"]))
  }
}
