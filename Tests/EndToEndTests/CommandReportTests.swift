// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Hearth
import Testing

extension EndToEndTests.InPipes {
  /// What commands say of data that they leave out, replace or do not find.
  @Suite(.serialized) struct CommandReportTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ arguments: String..., input: String? = nil) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, input: input, surroundings)
    }

    private func path(_ name: String) -> String { surroundings.folder.appending(path: name).path }

    @Test("copy includes subcollections, and commands that skip subcollections count them")
    func subcollections() async throws {
      for document in ["c/1", "c/1/s/x", "c/1/t/y", "c/2"] { _ = try await hearth("set", document, "n=1") }
      #expect(try await hearth("copy", "/", "data:\(path("whole"))").status == 0)
      #expect(try await hearth("diff", "/", path("whole")).status == 0)
      let partial = try await hearth("copy", "c", "d", "--no-recursive")
      #expect(partial.status == 0 && partial.errors.contains("2 subcollections were skipped"), "\(partial.errors)")
      #expect(partial.errors.contains("2 documents copied to d in "))
      let quiet = try await hearth("copy", "c", "e", "--no-recursive", "--quiet")
      #expect(quiet.status == 0 && quiet.errors == "")
      let export = try await hearth("export", "c", "--no-recursive")
      #expect(export.errors.contains("2 subcollections were skipped because of --no-recursive."))

      let one = try await hearth("delete", "c/1")
      #expect(
        one.errors == "hearth: c/1 is deleted, but 2 subcollections still exist. To delete everything below it: "
          + "hearth delete c/1 --recursive\n")
      #expect(try await hearth("delete", "c/1", "--recursive", "--yes").status == 0)
      #expect(try await hearth("delete", "c/2").errors == "")
      _ = try await hearth("set", "d/1/s/x", "n=1")
      let query = try await hearth("delete", "d", "--where", "n == 1", "--yes")
      #expect(
        query.errors.hasSuffix(
          "hearth: 1 subcollection of the deleted documents still exists. --recursive deletes it too.\n"),
        "\(query.errors)")
    }

    @Test("Every command also finds a program's data in its directory's backend folder")
    func earlierLayout() async throws {
      _ = try await hearth("set", "c/1", "n=1", "--data", path("app/backend"))
      #expect(try await hearth("get", "c", "--data", path("app")).output == "c/1  {\"n\": 1}\n")
      #expect(try await hearth("copy", "data:\(path("app"))/c", "c").status == 0)
      #expect(try await hearth("diff", path("app"), "/").status == 0)
      #expect(try await hearth("diff", "data:\(path("app"))/c", "c").status == 0)
      _ = try await hearth("set", "c/2", "n=2", "--data", path("app"))
      #expect(try await hearth("ls", "c", "--data", path("app/backend")).output == "c/1\nc/2\n")
      #expect(!FileManager.default.fileExists(atPath: path("app/backend.sqlite3")))
      #expect(try await hearth("repair", "--data", path("app")).errors.contains("is undamaged"))
    }

    @Test("A program and commands that are given the same directory share its data")
    func programDirectory() async throws {
      let directory = path("todos")
      let program = Firestore.firestore(
        app: FirestoreApp(name: "todos", backend: .embedded(directory: directory)))
      try await program.document("todos/1").setData(["text": "sow"])
      #expect(try await hearth("get", "todos", "--data", directory).output == "todos/1  {\"text\": \"sow\"}\n")
      #expect(try await hearth("set", "todos/2", "text=reap", "--data", directory).status == 0)
      let added = try await program.document("todos/2").getDocument(source: .server)
      #expect(added.get("text") as? String == "reap")
      try await program.terminate()

      #expect(try await hearth("ls", "todos", "--data", directory).output == "todos/1\ntodos/2\n")
      #expect(!FileManager.default.fileExists(atPath: directory + "/backend"))
    }

    @Test("restore asks before overwriting documents, but not for an empty database")
    func restore() async throws {
      _ = try await hearth("set", "c/1", "v=1")
      #expect(try await hearth("backup", path("b")).status == 0)
      _ = try await hearth("set", "c/1", "v=2")
      let refused = try await hearth("restore", path("b"))
      #expect(refused.status == 64 && refused.hasOneErrorLine, "\(refused.errors)")
      #expect(
        refused.errors.contains(
          "this would restore 1 document of \(path("b")) over the documents of hearth/(default) with the same paths. "
            + "Add --yes to confirm."))
      #expect(try await hearth("get", "c/1", "--template", "{{v}}").output == "2\n")
      #expect(try await hearth("restore", path("b"), "--dry-run").status == 0)
      #expect(try await hearth("restore", path("b"), "--yes").status == 0)
      #expect(try await hearth("get", "c/1", "--template", "{{v}}").output == "1\n")
      #expect(try await hearth("restore", path("b"), "--data", path("new")).status == 0)
    }

    @Test("The message for an empty result names a field or type that no document has")
    func absentFields() async throws {
      _ = try await hearth("set", "o/1", "total=5", "status=open", #"tags=["a"]"#, #"ship={"city":"C1"}"#)
      for (arguments, note) in [
        (["get", "o", "--order", "totl"], "no document of o has the field totl. Did you mean total?"),
        (["count", "o", "--where", "staus == x"], "no document of o has the field staus. Did you mean status?"),
        (["get", "o", "--where", "5 == n"], "no document of o has the field `5`."),
        (
          ["get", "o", "--where", "ship.cty == C1"], "no document of o has the field ship.cty. Did you mean ship.city?"
        ),
        (["distinct", "o", "total", "--where", "x == 1"], "no document of o has the field x."),
        (
          ["get", "o", "--where", "total == string:5"],
          "total has the type number in every document of o, but the condition has the type string."
        ),
        (
          ["get", "o", "--where", "tags contains [a]"],
          "the elements of tags have the type string in every document of o, but the condition has the type array."
        ),
        (
          ["get", "o", "--where", "status contains a"],
          "status never has an array with elements. The field has the type string."
        ),
        (["count", "o", "--by", "staus"], "no document of o has the field staus. Did you mean status?"),
        (["count", "o", "--by", "total,staus"], "no document of o has the field staus. Did you mean status?"),
        (["distinct", "o", "ship.cty"], "no document of o has the field ship.cty. Did you mean ship.city?"),
        (["sum", "o", "totl"], "no document of o has a number in totl. Did you mean total?"),
        (["avg", "o", "totl", "--where", "status == open"], "has a number in totl. Did you mean total?"),
        (["delete", "o", "--where", "staus == x", "--yes"], "has the field staus. Did you mean status?"),
        (
          ["get", "o", "--where", "total == 5 or staus == x"],
          "no document of o has the field staus. Did you mean status?"
        ),
        (["count", "o", "--where", "total == 5 or staus == x"], "has the field staus. Did you mean status?"),
        (
          ["delete", "o", "--where", "total == 5 or staus == x", "--dry-run"],
          "has the field staus. Did you mean status?\nhearth: 1 document of o would be deleted."
        ),
      ] {
        let run = try await HeadlessRun(arguments, surroundings)
        #expect(run.status == 0 && run.errors.hasSuffix("\(note)\n"), "\(arguments): \(run.errors)")
      }
      for condition in [
        "status == closed", "total > 9", "status == null", "status != open", "status == open or total == 9",
      ] {
        #expect(try await hearth("get", "o", "--where", condition).errors == "", "\(condition)")
      }
      #expect(try await hearth("get", "o", "--order", "totl", "--quiet").errors == "")
      #expect(try await hearth("count", "o", "--by", "staus", "--quiet").errors == "")
      #expect(try await hearth("sum", "o", "status").errors == "hearth: no document of o has a number in status.\n")
    }

    @Test("count --by --limit prints the largest of all groups")
    func groups() async throws {
      let lines = (0..<9).map { #"{"path": "o/\#($0)", "data": {"s": "\#($0 < 3 ? "old" : $0 < 8 ? "new" : "odd")"}}"# }
      _ = try await hearth("import", "-", input: lines.joined(separator: "\n"))
      #expect(try await hearth("count", "o", "--by", "s", "--limit", "2").output == "5  new\n3  old\n")
      #expect(try await hearth("distinct", "o", "s", "--limit", "2").output == "new\nodd\n")
      #expect(try await hearth("count", "o", "--by", "s", "--limit-to-last", "2", "--order", "s").status == 64)
    }

    @Test("A backup folder can be compared, imported and used as a seed")
    func backupFolder() async throws {
      _ = try await hearth("set", "c/1", "n=1")
      #expect(try await hearth("backup", path("b")).status == 0)
      let equal = try await hearth("diff", path("b"), "/")
      #expect(equal.status == 0 && equal.errors == "hearth: 1 document, all equal.\n", "\(equal.errors)")
      #expect(try await hearth("import", path("b"), "--data", path("new")).status == 0)
      #expect(try await hearth("ls", "--data", path("new")).output == "c\n")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: path("b")).sorted() == [
          "backup.json", "documents.jsonl.zst",
        ])
      let run = try await hearth(
        "exec", "--project", "p", "--seed", path("b"), "--", Surroundings.hearth, "get", "c/1", "--no-path")
      #expect(run.status == 0 && run.output.contains("\"n\": 1"), "\(run.errors)")
    }

    @Test("An export to a spreadsheet file is rejected; the error names the command for CSV")
    func foreignExport() async throws {
      _ = try await hearth("set", "c/1", "n=1")
      let run = try await hearth("export", "c", "-o", path("x.xlsx"))
      #expect(run.status == 64 && run.hasOneErrorLine && run.errors.contains("hearth get PATH --csv"), "\(run.errors)")
      #expect(!FileManager.default.fileExists(atPath: path("x.xlsx")))
      #expect(try await hearth("get", "**/c").errors.contains("c --collection-group"))
    }

    @Test("get --watch exits with 75 after its --timeout")
    func watchTimeout() async throws {
      _ = try await hearth("set", "c/1", "n=1")
      let run = try await hearth("get", "c", "--watch", "--timeout", "50ms")
      #expect(run.status == 75 && run.errors.hasSuffix("stopped after 0.05 seconds.\n"), "\(run.errors)")
    }

    @Test("Without a terminal, 'edit' and '\\e' reject an editor that needs a screen")
    func editors() async throws {
      surroundings.environment["EDITOR"] = nil
      for editor in [nil, "/usr/bin/vim -n"] {
        surroundings.environment["VISUAL"] = editor
        let edit = try await hearth("edit", "c/1")
        #expect(edit.status == 64 && edit.hasOneErrorLine && edit.errors.contains("needs a terminal"), "\(edit.errors)")
        let shell = try await hearth("shell", input: "\\e\n")
        #expect(shell.status == 64 && shell.errors.contains("needs a terminal. Set $EDITOR"), "\(shell.errors)")
      }
    }
  }
}
