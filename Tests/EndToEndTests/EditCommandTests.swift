// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.InPipes {
  /// Documents in an editor, from the command line.
  @Suite(.serialized) struct EditCommandTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ arguments: String..., input: String? = nil) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, input: input, surroundings)
    }

    /// Makes the editor a script, to which `$1` is the text.
    private func editing(_ script: String) throws {
      try surroundings.write("script", "#!/bin/sh\nset -e\n\(script)\n")
      surroundings.environment["VISUAL"] = "sh \(surroundings.folder.path)/script"
    }

    private var kept: [String] {
      let edits = surroundings.folder.appending(path: "state/hearth/edits").path
      // There is no folder before the first edit.
      return (try? FileManager.default.contentsOfDirectory(atPath: edits)) ?? []
    }

    @Test("edit writes only the fields changed in the editor and keeps remote changes")
    func changes() async throws {
      _ = try await hearth("set", "c/1", "a=1", "b=1", "see=ref:c/2")
      try editing("sed -i 's/\"a\": 1/\"a\": 2/' \"$1\"; \(Surroundings.hearth) update c/1 b=5")
      let edited = try await hearth("edit", "c/1", "--json")
      #expect(edited.status == 0 && edited.output.hasPrefix(#"{"path": "c/1", "commitTime": "#), "\(edited.errors)")
      #expect(edited.errors == "hearth: Other clients changed b in the meantime; only your fields are written.\n")
      #expect(try await hearth("get", "c").output == "c/1  {\"a\": 2, \"b\": 5, \"see\": {\"$ref\": \"c/2\"}}\n")
      let time = try await hearth("get", "c/1", "--template", "{{updateTime}}").output
      try editing("true")
      #expect(try await hearth("edit", "c/1").errors == "hearth: nothing was changed.\n")
      #expect(try await hearth("get", "c/1", "--template", "{{updateTime}}").output == time)
      try editing("echo '{\"n\": {\"$serverTimestamp\": true}}' >\"$1\"")
      #expect(try await hearth("edit", "c/new").status == 0)
      #expect(try await hearth("get", "c/new").output.contains("$timestamp"))
      #expect(kept == [])
    }

    @Test(
      "On a conflict, deletion or invalid text, edit writes nothing and saves the text"
    )
    func refusals() async throws {
      _ = try await hearth("set", "c/1", "a=1", "b=1")
      for (script, status, part) in [
        (
          "sed -i 's/\"a\": 1/\"a\": 2/' \"$1\"; \(Surroundings.hearth) update c/1 a=7", 6,
          "other clients also changed a"
        ),
        ("echo '{\"a\": 9}' >\"$1\"; \(Surroundings.hearth) delete c/1", 6, "was deleted in the meantime"),
        ("echo '{\"a\": 3' >\"$1\"", 65, "line 2"), ("echo '{\"a\": 3}' >\"$1\"; exit 3", 1, "status 3"),
        ("echo '{\"a\": 3}' >\"$1\"; \(Surroundings.hearth) create c/1 a=1", 5, "exists already"),
      ] as [(String, CInt, String)] {
        try editing(script)
        let count = kept.count
        let run = try await hearth("edit", "c/1", "-q")
        #expect(run.status == status && run.hasOneErrorLine && run.errors.contains(part), "\(script): \(run.errors)")
        #expect(run.errors.contains("Your text is in ~/state/hearth/edits/") && kept.count == count + 1)
      }
      #expect(try await hearth("get", "c").output == "c/1  {\"a\": 1}\n")
      let text = try #require(kept.first)
      let files = try FileManager.default.contentsOfDirectory(
        atPath: surroundings.folder.appending(path: "state/hearth/edits/\(text)").path)
      #expect(files == ["1.json"])
    }
  }
}
