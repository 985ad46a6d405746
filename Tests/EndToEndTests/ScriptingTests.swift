// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import FirestoreBackend
import FirestoreModel
import Foundation
import Testing

extension EndToEndTests.InShells {
  @Suite(.serialized) struct ScriptingTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ arguments: String..., input: String? = nil) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, input: input, surroundings)
    }

    @Test("get prints each type of value exactly as set accepts it")
    func roundTrip() async throws {
      let document = """
        {
          "bytes": {"$bytes": "aGVhcnRo"},
          "double": 1.0,
          "infinite": {"$double": "-Infinity"},
          "integer": 9223372036854775807,
          "list": [
            1,
            "two",
            null
          ],
          "looks typed": {
            "$map": {"$timestamp": "x"}
          },
          "place": {"$geo": [52.37, 4.89]},
          "see": {"$ref": "cities/LA"},
          "time": {"$timestamp": "2026-03-02T11:58:03.120456Z"},
          "vector": {"$vector": [0.1, 2.0]},
          "žluťoučký": "kůň\\u0007"
        }

        """
      #expect(try await hearth("set", "cities/SF", "-", input: document).status == 0)
      let printed = try await hearth("get", "cities/SF")
      #expect(printed.output == document)
      #expect(printed.status == 0 && printed.errors == "")
      #expect(try await hearth("set", "cities/copy", "-", input: printed.output).status == 0)
      #expect(try await hearth("get", "cities/copy").output == document)
    }

    @Test("A query prints one line per document and applies conditions, order and limit")
    func query() async throws {
      for (id, state, population) in [("LA", "CA", 3_900_000), ("SF", "CA", 870_000), ("NY", "NY", 8_000_000)] {
        let document = "{\"state\": \"\(state)\", \"population\": \(population)}"
        #expect(try await hearth("set", "cities/\(id)", document).status == 0)
      }
      let all = try await hearth("get", "cities")
      #expect(all.lines.map { $0.prefix(9) } == ["cities/LA", "cities/NY", "cities/SF"])
      #expect(try await hearth("get", "/cities/").output == all.output)
      let some = try await hearth(
        "get", "cities", "--where", "state == CA", "--order", "population:desc", "--limit", "1", "--json")
      #expect(some.lines.count == 1)
      #expect(some.output.hasPrefix("{\"path\": \"cities/LA\", \"createTime\": "))
      #expect(some.output.hasSuffix("\"data\": {\"population\": 3900000, \"state\": \"CA\"}}\n"))
    }

    @Test("update changes the named fields and exits with 4 for a missing document")
    func update() async throws {
      _ = try await hearth("set", "a/b", "{\"n\": 1, \"keep\": true, \"drop\": 1}")
      #expect(
        try await hearth("update", "a/b", "n={\"$increment\": 2}", "m.x=text", "--remove", "drop").status == 0)
      #expect(try await hearth("get", "a").output == "a/b  {\"keep\": true, \"m\": {\"x\": \"text\"}, \"n\": 3}\n")
      let missing = try await hearth("update", "a/missing", "n=1")
      #expect(missing.status == 4 && missing.hasOneErrorLine && missing.errors.contains("a/missing"))
    }

    @Test(
      "create exits with 5 if the document exists; set --if-exists exits with 4 if not")
    func conditions() async throws {
      #expect(try await hearth("create", "locks/a", "owner=me", "n=5").status == 0)
      let taken = try await hearth("create", "locks/a", "owner=you")
      #expect(taken.status == 5 && taken.hasOneErrorLine && taken.errors.contains("locks/a"))
      #expect(try await hearth("get", "locks").output == "locks/a  {\"n\": 5, \"owner\": \"me\"}\n")
      let added = try await hearth("add", "orders", "{\"total\": 2}")
      #expect(added.output.wholeMatch(of: /orders\/\w{20}\n/) != nil, "\(added.output)")
      #expect(try await hearth("set", "locks/b", "{}", "--if-exists").status == 4)
      #expect(try await hearth("delete", "locks/b", "--if-exists").status == 4)

      let read = try await hearth("get", "locks/a", "--json").output
      let time = try #require(read.firstMatch(of: /"updateTime": "([^"]+)"/)).output.1
      #expect(try await hearth("update", "locks/a", "n=6", "--if-unchanged-since", String(time)).status == 0)
      let changed = try await hearth("update", "locks/a", "n=7", "--if-unchanged-since", String(time))
      #expect(changed.status == 6 && changed.hasOneErrorLine, "\(changed.errors)")
      #expect(try await hearth("get", "locks/a", "--select", "n").output == "{\n  \"n\": 6\n}\n")
      for (arguments, note) in [
        (["locks/a", "--select", "n"], ""), (["locks/a", "--select", "m"], "hearth: locks/a has no m.\n"),
        (["locks", "--select", "n,m,m.a,__name__"], "hearth: No document here has m or m.a.\n"),
        (["locks", "--template", "{{id}} {{m}}"], "hearth: No document here has m.\n"),
        (["locks", "--select", "m", "--quiet"], ""),
        (["absent", "--select", "m"], "hearth: collection absent does not exist.\n"),
      ] {
        let run = try await HeadlessRun(["get"] + arguments, surroundings)
        #expect(run.status == 0 && run.errors == note, "\(arguments): \(run.errors)")
      }
    }

    @Test("update and delete by query need --yes without a terminal and report their counts")
    func queries() async throws {
      for number in 1...3 { #expect(try await hearth("set", "a/\(number)", "n=\(number)").status == 0) }
      let unconfirmed = try await hearth("update", "a", "--where", "n > 1", "s=x")
      #expect(
        unconfirmed.status == 64 && unconfirmed.hasOneErrorLine && unconfirmed.errors.contains("2 documents of a"))
      let updated = try await hearth("update", "a", "--where", "n > 1", "s=x", "--yes", "--json")
      #expect(updated.output == "{\"documents\": 2, \"skipped\": 0}\n")
      #expect(try await hearth("delete", "a", "--where", "s == x and n == 2", "--yes").status == 0)
      #expect(try await hearth("move", "a", "b").status == 0)
      #expect(try await hearth("copy", "b/1", "b/3").status == 5)
      #expect(try await hearth("tree", "-q").output.contains("└── b/\n    ├── 1\n    └── 3\n"))
    }

    @Test(
      "diff exits with 0 for equal sides, 1 for differences and other codes for errors")
    func diff() async throws {
      for id in ["a", "b"] { #expect(try await hearth("set", "c/\(id)", "n=1").status == 0) }
      let file = surroundings.folder.appending(path: "backup.jsonl").path
      #expect(try await hearth("export", "--all", "--recursive", "-o", file).status == 0)
      #expect(try await hearth("diff", file, "/").status == 0)
      #expect(try await hearth("set", "c/b", "n=2").status == 0)
      let changed = try await hearth("diff", file, "c")
      #expect(changed.status == 1 && changed.output == "~ c/b\n    n: 1 → 2\n", "\(changed.output)")
      let sides = try await hearth("diff", "c/a", "c/b", "--json")
      #expect(sides.status == 1 && sides.lines.count == 1 && sides.output.contains("\"path\": \".\""))
      let missing = try await hearth("diff", "./nothing.jsonl", "c")
      #expect(missing.status == 66 && missing.hasOneErrorLine)
      let mistyped = try await hearth("diff", "/", "nofolder")
      #expect(mistyped.status == 4 && mistyped.errors.contains("nofolder"), "\(mistyped.errors)")
      #expect(try await hearth("schema", "c").lines.last == "n      100 %  integer")
      #expect(try await hearth("stats", "--json").output.hasPrefix("{\"collection\": \"c\", \"documents\": 2, "))
    }

    @Test("Past data is read, compared and restored, and a whole database is copied")
    func past() async throws {
      #expect(try await hearth("set", "c/a", "n=1", "big=text").status == 0)
      let read = try await hearth("get", "c/a", "--json", "--select", "n")
      #expect(read.output.hasSuffix("\"data\": {\"n\": 1}}\n"))
      let then = String(try #require(read.output.firstMatch(of: /"updateTime": "([^"]+)"/)).output.1)
      #expect(try await hearth("set", "c/a", "n=2").status == 0)
      let changes = try await hearth("diff", "c", "--at", then)
      #expect(changes.status == 1 && changes.output == "~ a\n    - big: \"text\"\n    n: 1 → 2\n", "\(changes.errors)")
      #expect(try await hearth("copy", "c/a", "c/a", "--at", then, "--overwrite").status == 0)
      #expect(try await hearth("get", "c/a", "--template", "{{n}}").output == "1\n")
      let old = try await hearth("count", "c", "--at", "2020-01-01")
      #expect(old.status == 65 && old.hasOneErrorLine && old.output == "", "\(old.errors)")

      let other = surroundings.folder.appending(path: "other").path
      #expect(try await hearth("copy", "/", "data:\(other)", "--recursive").status == 0)
      #expect(try await hearth("diff", other, "/").status == 0)
      #expect(try await hearth("copy", "/", "data:\(other)", "--recursive").status == 5)
    }

    @Test("ls, tree, count, sum and avg read the server's data")
    func overview() async throws {
      for (id, total) in [("a", "5"), ("b", "2.5"), ("c", "{\"$double\": \"NaN\"}"), ("d", "text")] {
        #expect(try await hearth("set", "orders/\(id)", "total=\(total)", "items=2").status == 0)
      }
      #expect(try await hearth("ls").output == "orders\n")
      #expect(try await hearth("tree", "--depth", "1", "-q").output == "hearth/(default)\n└── orders/\n")
      #expect(try await hearth("count", "orders", "--where", "total == NaN or total > 2").output == "3\n")
      #expect(try await hearth("sum", "orders", "items", "--json").output == "{\"sum\": 8}\n")
      #expect(try await hearth("avg", "orders", "total", "--where", "total > 0").output == "3.75\n")
      #expect(try await hearth("avg", "orders", "nothing").output == "null\n")
    }

    @Test("delete --recursive --yes deletes all descendants, also of missing documents")
    func deletion() async throws {
      for path in ["a/b", "a/b/c/d", "a/ghost/c/d/e/f", "ab/kept"] {
        #expect(try await hearth("set", path, "{}").status == 0)
      }
      let unconfirmed = try await hearth("delete", "a", "--recursive")
      #expect(unconfirmed.status == 64 && unconfirmed.hasOneErrorLine && unconfirmed.errors.contains("--yes"))
      #expect(try await hearth("delete", "a", "--recursive", "--dry-run").errors.contains("3 documents of a would be"))
      let deletion = try await hearth("delete", "a", "--recursive", "--yes")
      #expect(deletion.status == 0 && deletion.errors.contains("3 documents"))
      for collection in ["a", "a/b/c", "a/ghost/c", "a/ghost/c/d/e"] {
        #expect(try await hearth("get", collection).output == "")
      }
      #expect(try await hearth("get", "ab").output == "ab/kept  {}\n")
    }

    @Test(
      "Failures have distinct exit statuses and one line on standard error",
      arguments: [
        (["get", "a/missing"], 4, "a/missing"), (["get", "a", "--where", "x =! 1"], 64, "column 3"),
        (["get", "a//b"], 64, "a//b"), (["get"], 64, "path"), (["gett", "a"], 64, "'get'"),
        (["set", "a/b", "{"], 65, "column 2"), (["set", "a/b", "{\"__x__\": 1}"], 65, "__x__"),
        (["set", "a", "{}"], 64, "collection"),
        (["get", "a", "--timeout", "soon"], 64, "5s"), (["get", "a/b", "--source", "cache"], 4, "cache"),
        (["get", "a", "--limit", "-1"], 64, "limit"), (["help", "foo"], 64, "'foo'"),
        (["get", "a", "--hlp"], 64, "'--help'"),
        (["get", "a", "--order", "n down"], 64, "desc"), (["update", "a/b", "a b=1"], 64, "column 2"),
        (["dashboard", "--demo", "--emulator", "h:1"], 64, "--emulator"), (["--demo", "--cloud"], 64, "--cloud"),
        (["set", "a/b", "{}", "--data", "/proc/hearth"], 77, "/proc/hearth"),
        (["get", "a", "--data", "/nowhere/hearth"], 66, "/nowhere/hearth"),
        (["export", "--all", "--data", "/nowhere/hearth"], 66, "/nowhere/hearth"),
        (["watch", "a", "--data", "/nowhere/hearth"], 66, "/nowhere/hearth"),
        (["cache", "explain", "a", "--data", "/nowhere/hearth"], 66, "/nowhere/hearth"),
        (["get", "a", "--emulator", "https://h:1"], 64, "TLS"), (["ls", "a/b"], 4, "a/b"),
        (["count", "a/b"], 64, "a/b"), (["sum", "a"], 64, "field"), (["add", "a/b", "n=1"], 64, "collection"),
        (["create", "a", "n=1"], 64, "collection"), (["set", "a/b", "n=1", "n.x=2"], 64, "n.x"),
        (["tree", "--depth", "0"], 64, "--depth"), (["ls", "a", "--count"], 64, "hearth count a"),
      ] as [([String], CInt, String)])
    func failures(arguments: [String], status: CInt, mentions: String) async throws {
      let run = try await HeadlessRun(arguments, surroundings)
      #expect(run.status == status)
      #expect(run.output == "" && run.hasOneErrorLine && run.errors.contains(mentions), "\(run.errors)")
    }

    @Test("Data folders are relative to the current folder, and each has its own cache")
    func relativeFolders() async throws {
      let hearth = "'\(Surroundings.hearth)'"
      let script = """
        cd '\(surroundings.folder.path)'
        for data in d e; do \(hearth) set a/$data '{}' --data $data; done
        \(hearth) watch a --until synced --cache c --data d && echo 'set a/x {}' | \(hearth) play --cache c --data e - 2>&1
        """
      let process = try ChildProcess(
        ["/bin/sh", "-c", script], environment: surroundings.environment, streams: .pipes)
      process.closeInput()
      let output = try await ChildProcess.all(process.output)
      #expect(try await process.exitStatus() == 78)
      #expect(output.contains("added     a/d"), "\(output)")
      #expect(output.contains("/c belongs to") && output.contains("another cache directory"), "\(output)")
    }

    @Test("A command on data that another process has locked exits with 69 and names it")
    func locked() async throws {
      let holder = try LocalBackend(
        BackendConfiguration(location: .directory(surroundings.backend), now: { Timestamp(seconds: 1_700_000_000) }))
      let run = try await hearth("get", "a")
      #expect(run.status == 69 && run.hasOneErrorLine && run.errors.contains("process \(getpid())"), "\(run.errors)")
      withExtendedLifetime(holder) {}
    }

    @Test("Reading damaged data exits with 65, not with an empty result; repair restores it")
    func damagedData() async throws {
      #expect(try await hearth("set", "cities/SF", "{\"name\": \"San Francisco\"}").status == 0)
      #expect(try await hearth("repair", "--data", surroundings.backend).status == 0)
      let file = URL(filePath: surroundings.backend + "/backend.sqlite3")
      var bytes = try Data(contentsOf: file)
      bytes[60] ^= 1
      try bytes.write(to: file)

      for command in [["get", "cities"], ["get", "cities/SF"], ["export", "--all"]] {
        let run = try await HeadlessRun(command, surroundings)
        #expect(run.status == 65 && run.output == "", "\(command)")
        #expect(run.hasOneErrorLine && run.errors.contains("'hearth repair --data \(surroundings.backend)'"))
      }
      let refusal = try await hearth("repair", "--data", surroundings.backend)
      #expect(refusal.status == 65 && refusal.errors.contains("--yes"))
      #expect(try Data(contentsOf: file) == bytes)

      let repair = try await hearth("repair", "--data", surroundings.backend, "--yes")
      #expect(repair.status == 0, "\(repair.errors)")
      #expect(repair.output == "1 document saved; the damaged file is \(file.path(percentEncoded: false)).damaged-1\n")
      #expect(try await hearth("get", "cities/SF").output.contains("San Francisco"))
    }

    @Test("Damage found during a command is reported in one line")
    func damageOnTheWay() async throws {
      let text = (1...2000).map { "x\($0)" }.joined(separator: " ")
      #expect(try await hearth("set", "cities/SF", "{\"text\": \"\(text)\"}").status == 0)
      #expect(try await hearth("repair", "--data", surroundings.backend).status == 0)
      let file = URL(filePath: surroundings.backend + "/backend.sqlite3")
      var bytes = try Data(contentsOf: file)
      let place = try #require(bytes.range(of: Data("x1250 x1251".utf8))?.lowerBound)
      bytes[place] ^= 1
      try bytes.write(to: file)

      let run = try await HeadlessRun(["get", "cities/SF"], surroundings)
      #expect(run.status == 65 && run.output == "" && run.hasOneErrorLine, "\(run.errors)")
      #expect(run.errors.contains("is damaged") && run.errors.contains("'hearth repair --data"), "\(run.errors)")
    }

    @Test("Every command's help lists its options and failures")
    func help() async throws {
      let all = try await hearth("help", "--all")
      #expect(all.status == 0 && all.output.contains("--demo"))
      for command in [
        "dashboard", "ls", "tree", "get", "count", "sum", "avg", "add", "create", "set", "update", "delete", "watch",
        "import", "export", "play",
      ] {
        #expect(all.output.contains("\n  \(command)"))
        let help = try await hearth("help", command)
        #expect(help.status == 0 && help.output.contains("USAGE: hearth \(command)"))
      }
    }
  }
}
