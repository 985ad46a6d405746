// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreRules
import Testing

@Suite("Rule proofs from a query")
struct QueryProofTests {
  /// Whether the condition allows a query of `e` with these filters to the user `me`.
  private static func allows(_ condition: String, _ filters: String) throws -> Bool {
    try decide(condition, filters, provesLists: true).isAllowed
  }

  private static func decide(
    _ condition: String, _ filters: String, provesLists: Bool = false
  ) throws -> RulesVerdict {
    let rules =
      "rules_version = '2'; service cloud.firestore { match /databases/{database}/documents/e/{id} { "
      + "allow list: if \(condition); } }"
    let (compiled, issues) = Ruleset.compile([RulesFile(name: "r", content: rules)])
    let ruleset = try #require(compiled, "\(issues)")
    var reader = RulesCaseReader()
    let syntax = try JSONSyntax(
      parsing: #"{"method": "list", "path": "e", "user": "me", "query": {"where": \#(filters)}, "expect": "allow"}"#)
    let content = try #require(try reader.read(syntax))
    return ruleset.decide(content.request, content.documents, provesLists: provesLists)
  }

  @Test(
    "If no proof succeeds, fields that the query does not name are assumed absent",
    arguments: [
      ("!('fans' in resource.data)", "[]", true, ["fans"]),
      ("!('fans' in resource.data) || 'me' in resource.data.fans", #"[["public", "==", true]]"#, true, ["fans"]),
      ("'me' in resource.data.fans", #"[["public", "==", true]]"#, false, nil),
      ("resource.data.get('deleted', false) == false", "[]", true, ["deleted"]),
      ("resource.data.keys().hasOnly(['n'])", #"[["n", "==", 1]]"#, true, []),
      ("resource.data.n is int", #"[["n", "==", 1]]"#, true, []),
      ("resource.data.n is int", #"[["n", ">", 1]]"#, false, nil),
      ("resource.data.n == 1", #"[["n", "==", 1]]"#, true, nil),
      ("!('b' in resource.data.a)", #"[["a.c", "==", 1]]"#, true, ["b"]),
    ] as [(String, String, Bool, [String]?)])
  func view(_ condition: String, _ filters: String, _ isAllowed: Bool, _ assumed: [String]?) throws {
    let verdict = try Self.decide(condition, filters)
    #expect(verdict.isAllowed == isAllowed && verdict.assumed == assumed, "\(verdict)")
    #expect((verdict.warning != nil) == (assumed != nil))
    if assumed != nil { #expect(try !Self.allows(condition, filters)) }
  }

  /// With `resource.data.n` for `F`.
  private static func onField(_ condition: String) -> String {
    condition.split(separator: "F", omittingEmptySubsequences: false).joined(separator: "resource.data.n")
  }

  @Test(
    "A numeric filter proves only conditions true for both integers and floats",
    arguments: [
      ("F is int", false), ("F is float", false), ("F is number", true), ("!(F is string)", true),
      ("F == 1", true), ("F == 1.0", true), ("F != 2", true), ("F < 2", true), ("!(F > 1)", true),
      ("F in [1, 2]", false), ("F in [1, 1.0]", true), ("F in ['a']", false), ("!(F in ['a'])", true),
      ("F + 1 == 2", true), ("F + 1 is number", true), ("F + 1 is int", false), ("F / 2 == 0", false),
      ("F / 2 < 1", true),
      ("F % 2 == 1", true), ("-F == -1", true), ("-F is int", false), ("string(F) == '1'", false),
      ("int(F) is int", true),
      ("float(F) == 1.0", true), ("math.abs(F) == 1", true), ("math.abs(F) is int", false), ("debug(F) == 1", true),
      ("[F] == [1]", false), ("[F].size() == 1", true), ("[F][0] == 1", true), ("[F].hasAny([1])", false),
      ("{'x': F}.x == 1", true), ("{'x': F} == {'x': 1}", false), ("F == null", false), ("F != null", true),
    ])
  func twins(_ condition: String, _ isAllowed: Bool) throws {
    let own = Self.onField(condition)
    for value in ["1", "1.0"] {
      #expect(try Self.allows(own, #"[["n", "==", \#(value)]]"#) == isAllowed)
    }
    #expect(try Self.allows(own, #"[["n", "in", [1]]]"#) == isAllowed)
  }

  @Test(
    "Numeric equality is the same inside lists and maps and for both zeros",
    arguments: [
      ("F == [1]", #"[["n", "==", [1]]]"#, false),
      ("F[0] == 1", #"[["n", "==", [1]]]"#, true),
      ("F[0] is int", #"[["n", "==", [1]]]"#, false),
      ("F.size() == 1", #"[["n", "==", [1]]]"#, true),
      ("F == ['a']", #"[["n", "==", ["a"]]]"#, true),
      ("1 in F", #"[["n", "==", [1]]]"#, false),
      ("F.k == 1", #"[["n", "==", {"k": 1}]]"#, true),
      ("F.k is int", #"[["n", "==", {"k": 1}]]"#, false),
      ("F == {'k': 1}", #"[["n", "==", {"k": 1}]]"#, false),
      ("F.size() == 1", #"[["n", "==", {"k": 1}]]"#, true),
      ("F == {'k': 'a'}", #"[["n", "==", {"k": "a"}]]"#, true),
      ("F.k is int", #"[["n.k", "==", 1]]"#, false),
      ("1 in F", #"[["n", "array-contains", 1]]"#, false),
      ("'a' in F", #"[["n", "array-contains", "a"]]"#, true),
      ("1.5 in F", #"[["n", "array-contains", 1.5]]"#, true),
      ("1.0 / F > 0.0", #"[["n", "==", 0.0]]"#, false),
      ("F == 0", #"[["n", "==", 0.0]]"#, true),
      ("math.isNaN(F)", #"[["n", "==", {"$double": "NaN"}]]"#, true),
      ("F is float", #"[["n", "==", 1.5]]"#, true),
      ("F is int", #"[["n", "==", 9007199254740993]]"#, true),
      ("F > 9007199254740992.0", #"[["n", ">", 9007199254740992]]"#, false),
      ("F != 9007199254740993", #"[["n", "!=", 9007199254740993]]"#, false),
      ("F == 2 && F > 1", #"[["n", "==", 2], ["n", ">", 1]]"#, true),
    ])
  func nested(_ condition: String, _ filters: String, _ isAllowed: Bool) throws {
    #expect(try Self.allows(Self.onField(condition), filters) == isAllowed)
  }

  @Test(
    "Properties that a query does not constrain are not proven",
    arguments: [
      ("resource.data.keys()[0] == 'n'", #"[["n", "==", "a"]]"#),
      ("resource.data.keys()[0:1] == ['n']", #"[["n", "==", "a"]]"#),
      ("resource.data.get(['n', 'k'], 'd') == 'd'", #"[["n", "!=", "a"]]"#),
      ("resource.data.l == [resource.data.m]", #"[["l", "==", [{"k": "a"}]], ["l", "!=", null], ["m.k", "==", "a"]]"#),
      ("resource.data.get('deleted', false) == false", "[]"), ("!('deleted' in resource.data)", "[]"),
    ])
  func leftOpen(_ condition: String, _ filters: String) throws {
    #expect(try !Self.allows(condition, filters))
  }

  @Test(
    "A proof may assume that a found document exists and that its data is a map",
    arguments: [
      "resource != null", "resource.data != null", "null != resource", "!(resource == null)",
      "!(null == resource.data)",
      "resource is map", "resource.data.m != null",
    ])
  func isThere(_ condition: String) throws {
    let filters = #"[["o", "==", "me"], ["m.k", "==", "a"]]"#
    #expect(try Self.allows("\(condition) && resource.data.o == request.auth.uid", filters))
    #expect(try !Self.allows("\(condition) && resource.data.o == 'you'", filters))
  }

  @Test("A default value can be proven if the query constrains the field")
  func defaults() throws {
    #expect(try Self.allows("resource.data.get('deleted', false) == false", #"[["deleted", "==", false]]"#))
    #expect(try Self.allows("resource.data.get('deleted', false) != true", #"[["deleted", "!=", true]]"#))
    #expect(try Self.allows("resource.data.get(['m', 'k'], 0) >= 1", #"[["m.k", ">", 1]]"#))
  }

  @Test("A filter that never matches proves nothing; the query's other filters still do")
  func nothing() throws {
    #expect(try Self.allows("true", #"[{"or": []}]"#))
    #expect(try Self.allows("resource.data.o == request.auth.uid", #"[{"or": []}, ["o", "==", "me"]]"#))
    #expect(try !Self.allows("resource.data.o == request.auth.uid", #"[{"or": []}]"#))
    #expect(try !Self.allows("false", #"[{"or": []}]"#))
  }
}
