// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.InPipes {
  /// Several documents at once, and counts by their values.
  @Suite(.serialized) struct GatheringTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func hearth(_ arguments: String..., input: String? = nil) async throws -> HeadlessRun {
      try await HeadlessRun(arguments, input: input, surroundings)
    }

    @Test(
      "Documents are counted by field values locally, on a server and at a past time")
    func groups() async throws {
      let server = try await ServeProcess(surroundings)
      for place in [[], ["--emulator", server.address]] {
        func hearth(_ arguments: String...) async throws -> HeadlessRun {
          try await HeadlessRun(arguments + place, surroundings)
        }
        for (id, fields) in [
          ("1", ["status=paid", "total=5", "kind=a"]), ("2", ["status=new", "total=1"]),
          ("3", ["status=paid", "total=7"]),
          ("4", ["total=9"]),
        ] {
          #expect(try await HeadlessRun(["set", "orders/\(id)"] + fields + place, surroundings).status == 0)
        }
        #expect(try await hearth("count", "orders", "--by", "status").lines == ["2  paid", "1  new", "1  (none)"])
        #expect(
          try await hearth("count", "orders", "--by", "status", "--json", "--where", "total > 1").lines == [
            #"{"by": {"status": "paid"}, "count": 2}"#, #"{"by": {}, "count": 1}"#,
          ])
        #expect(
          try await hearth("count", "orders", "--by", "status", "--by", "kind", "--csv").lines == [
            "status,kind,count", "new,,1", "paid,a,1", "paid,,1", ",,1",
          ])
        let distinct = try await hearth("distinct", "orders", "status")
        #expect(distinct.lines == ["new", "paid"] && distinct.errors == "hearth: 1 document without status.\n")
        #expect(try await hearth("distinct", "orders", "kind,status", "--json", "-q").lines.count == 3)
        #expect(try await hearth("count", "orders", "--template", "{{count}} orders").output == "4 orders\n")
        #expect(try await hearth("sum", "orders", "total", "--json").output == "{\"sum\": 22}\n")
      }
      #expect(try await hearth("distinct", "order", "x").errors.contains("Did you mean orders?"))
      for wrong in [
        ["distinct", "orders", "__name__"], ["distinct", "orders/1", "x"], ["count", "orders", "--by", ""],
      ] {
        let run = try await HeadlessRun(wrong, surroundings)
        #expect(run.status == 64 && run.hasOneErrorLine, "\(wrong): \(run.errors)")
      }
    }

    @Test("get prints several paths in order and reports missing paths at the end")
    func severalPaths() async throws {
      for path in ["a/1", "a/2", "b/1"] { _ = try await hearth("set", path, "n=1") }
      let all = try await hearth("get", "b/1", "a", "a/1")
      #expect(all.lines.map { $0.prefix(3) } == ["b/1", "a/1", "a/2", "a/1"] && all.status == 0)
      let some = try await hearth("get", "a/1", "a/x", "a/y", "b/1", "--csv")
      #expect(some.lines == ["path,n", "a/1,1", "b/1,1"] && some.status == 4)
      #expect(some.errors == "hearth: a/x and 1 more do not exist.\n")
      #expect(try await hearth("get", "a", "--no-path").lines == [#"{"n": 1}"#, #"{"n": 1}"#])
      #expect(try await hearth("get", "a/1", "a/2", "--csv", "--no-path").lines == ["n", "1", "1"])
      #expect(try await hearth("get", "a", "--expanded").lines == ["-[ a/1 ]-", "n  1", "-[ a/2 ]-", "n  1"])
      #expect(try await hearth("get", "a", "--expanded", "--no-path").lines.first == "-[ 1 ]-")
      for (wrong, part) in [
        (["a", "b", "--where", "n == 1"], "2 paths"), (["a", "n=1"], "--where 'state == CA'"),
        (["a", "--template", "x", "--no-path"], "--no-path"), (["a", "b", "--watch"], "--watch"),
      ] {
        let run = try await HeadlessRun(["get"] + wrong, surroundings)
        #expect(run.status == 64 && run.hasOneErrorLine && run.errors.contains(part), "\(wrong): \(run.errors)")
      }
    }
  }
}
