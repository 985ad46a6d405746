// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestorePipelines
import FirestoreProtocol
import FirestoreTesting
import Testing

@Suite("Invalid pipelines")
struct CheckTests {
  private static let all = stage("collection", .path("/books"))

  @Test(
    "Each invalid pipeline is rejected with a specific message",
    arguments: [
      ([], "A pipeline needs a first stage"),
      (
        [stage("where", true)],
        "The stage 'where' cannot be the first stage. A pipeline begins with one of: collection,"
      ),
      ([stage("collektion", .path("/a"))], "The stage 'collektion' does not exist."),
      ([all, stage("wher", true)], "The stage 'wher' does not exist. Later stages are: add_fields,"),
      ([all, all], "The stage 'collection' can only be the first stage."),
      ([all, stage("where")], "The stage 'where' takes 1 arguments, not 0."),
      ([all, stage("where", call("foo"))], "The function 'foo' does not exist. Functions are: abs, add, and,"),
      ([all, stage("where", call("average", 1))], "The function 'average' is only allowed in the stage 'aggregate'."),
      ([all, stage("where", call("not", true, true))], "The function 'not' takes 1 arguments, not 2."),
      ([all, stage("limit", -1)], "The stage 'limit' takes a constant nonnegative integer."),
      ([all, stage("limit", "1")], "The stage 'limit' takes a constant nonnegative integer"),
      ([all, stage("sort")], "The stage 'sort' takes 1...10000 arguments, not 0."),
      (
        [all, stage("sort", order("a", "up"))], "The stage 'sort' needs orders that have an expression and a direction"
      ),
      (
        [all, stage("select", "a")],
        "The stage 'select' takes a map of names and expressions. Expected fields to be MAP_VALUE, but was STRING_VALUE."
      ),
      (
        [all, stage("select", field("title"))],
        "The stage 'select' takes a map of names and expressions. Expected fields to be MAP_VALUE, but was "
          + "FIELD_REFERENCE_VALUE."
      ),
      ([all, stage("select", named([("a..b", 1)]))], "The stage or function 'select' has an invalid field name"),
      ([all, stage("aggregate", .constant([:]))], "The stage 'aggregate' requires at least one accumulator."),
      (
        [all, stage("aggregate", named([("n", field("x"))]))],
        "The stage 'aggregate' needs one of these functions for 'n'"
      ),
      ([all, stage("find_nearest", field("v"), 1, "euclidean")], "The stage 'find_nearest' takes a constant vector"),
      (
        [all, stage("find_nearest", field("v"), .constant(.vector([1])), "near")],
        "The stage 'find_nearest' supports these measures: euclidean, cosine, dot_product."
      ),
      (
        [all, stage("union", .pipeline(PipelineMessage([stage("subcollection", "x")])))],
        "The stage 'subcollection' is only allowed at the start of a nested pipeline"
      ),
      ([all, stage("delete"), stage("limit", 1)], "The stages 'update' and 'delete' must be the last"),
      (
        [all, stage("union", .pipeline(PipelineMessage([all, stage("delete")])))],
        "The stage 'delete' cannot be in a nested"
      ),
      (
        [stage("collection", .path("/books/b1"))],
        "The stage 'collection' takes a collection; '/books/b1' is a document."
      ),
      ([stage("documents", .path("/books"))], "The stage 'documents' takes documents; '/books' is a collection."),
      ([stage("documents", .path("/a/b"), .path("/a/b"))], "The stage 'documents' names the document '/a/b' twice."),
      (
        [stage("collection", .constant(.reference(DatabaseID(project: "q"), key("a/b"))))],
        "The stage 'collection' names the database"
      ),
      ([all, stage("search")], "The stage 'search' needs the option 'query'."),
      ([all, stage("sample", 2.0, "percent")], "The stage 'sample' takes a fraction from 0 to 1."),
      (
        [all, stage("where", .pipeline(PipelineMessage([all])))],
        "A pipeline is only allowed as the argument of array() or"
      ),
      (
        [all, stage("where", call("array_filter", list(), "e", call("scalar", .pipeline(PipelineMessage([all])))))],
        "A pipeline cannot be an expression inside of array_filter()"
      ),
    ] as [([PipelineMessage.Stage], String)])
  func refusals(_ stages: [PipelineMessage.Stage], _ text: String) throws {
    let status = #expect(throws: RPCStatus.self) { try Pipeline(PipelineMessage(stages), in: database) }
    #expect(status?.code == .invalidArgument)
    #expect(status?.message.hasPrefix(text) == true, "\(status?.message ?? "")")
  }

  @Test("A variable is visible after its definition and in subqueries, but not in unions")
  func variables() throws {
    let known = stage("select", named([("x", .variable("v"))]))
    let define = stage("let", named([("v", field("n"))]))
    let inner = PipelineMessage([Self.all, known])
    let subquery = stage("add_fields", named([("s", call("array", .pipeline(inner)))]))
    let count = stage("aggregate", named([("c", call("count"))]))
    func check(_ stages: PipelineMessage.Stage...) -> String? {
      do throws(RPCStatus) {
        _ = try Pipeline(PipelineMessage([Self.all] + stages), in: database)
        return nil
      } catch { return error.message }
    }
    let unknown = "Unknown variable 'v'. Define it in an earlier stage 'let'."
    #expect(check(define, known) == nil && check(define, subquery) == nil)
    #expect(check(known) == unknown && check(subquery) == unknown && check(known, define) == unknown)
    #expect(check(define, count, known) == unknown && check(define, stage("union", .pipeline(inner))) == unknown)
    #expect(check(define, stage("union", .pipeline(PipelineMessage([Self.all]))), known) == nil)
    let walk = call("array_filter", field("a"), "v", call("exists", .variable("v")))
    #expect(check(stage("where", walk)) == nil && check(stage("where", walk), known) == unknown)
  }

  @Test("A stage accepts only its own options")
  func options() throws {
    var limit = stage("limit", 1)
    limit.options = ["index_mode": "x"]
    var all = Self.all
    all.options = ["force_index": "primary"]
    _ = try Pipeline(PipelineMessage([all, limit]), in: database)
    limit.options = ["fast": true]
    let status = #expect(throws: RPCStatus.self) { try Pipeline(PipelineMessage([Self.all, limit]), in: database) }
    #expect(status?.message == "The stage 'limit' has no option 'fast'. It has no options.")
  }
}
