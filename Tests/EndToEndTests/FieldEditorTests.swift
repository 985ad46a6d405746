// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Testing

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct FieldEditorTests {
    @Test("A document is created field by field, and then its types are changed")
    func creation() async throws {
      let surroundings = try Surroundings()
      let hearth = try await TmuxTerminal(in: surroundings)
      try await hearth.wait("no collections yet")
      try await hearth.keys("n", "p")
      try await hearth.wait("orders makes an id")
      try await hearth.type("cities/SF")
      try await hearth.keys("Enter")
      try await hearth.wait("set: a new document with 0 fields")
      // A number in quotes is a text, as in `hearth set`.
      for (name, value) in [("name", "San Francisco"), ("population", "\"873965\"")] {
        // The first letter begins the name.
        try await hearth.type(name)
        try await hearth.keys("Enter")
        try await hearth.type(value)
        try await hearth.keys("Enter")
        let text = value.hasPrefix("\"") ? value : "\"\(value)\""
        try await hearth.wait(for: "the field") { $0.rows("+", name, "string", text).count == 1 }
      }
      try await hearth.keys("C-s")
      try await hearth.wait("only if the document does not exist yet")
      try await hearth.keys("Enter")
      try await hearth.wait(for: "the acknowledgement") {
        $0.text.contains("#1 acknowledged") && $0.lines[0].contains("⇡0")
      }

      try await hearth.select(" cities ")
      try await hearth.keys("l")
      try await hearth.select("SF")
      try await hearth.keys("E")
      try await hearth.wait("nothing is changed")
      // The last field, then its type.
      try await hearth.keys("j", "t", "i", "Enter")
      try await hearth.wait("update: mask [population]")
      try await hearth.keys("C-s")
      try await hearth.wait("\"873965\" → 873965")
      try await hearth.keys("Enter")
      try await hearth.wait(for: "the second acknowledgement") { $0.text.contains("#2 acknowledged") }
      try await hearth.keys("Q")
      #expect(try await hearth.exitStatus() == 0)

      let read = try await HeadlessRun(["get", "cities/SF", "--json"], surroundings)
      #expect(read.output.contains("\"population\": 873965") && read.output.contains("\"name\": \"San Francisco\""))
    }
  }
}
