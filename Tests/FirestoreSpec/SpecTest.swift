// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON

package struct SpecStep: Sendable {
  /// The action's name in the file.
  package var name: String
  package var action: SpecAction
  /// The number of the client that acts; 0 in tests of one client.
  package var client = 0
  package var expectations: SpecExpectations

  init(_ json: JSONSyntax) throws(JSONError) {
    var found: (String, JSONSyntax)?
    expectations = SpecExpectations()
    for member in try json.members() {
      if member.name == "clientIndex" {
        client = try member.value.integer()
        continue
      }
      if SpecExpectations.names.contains(member.name) || member.name.hasPrefix("expected") {
        try expectations.add(member.name, member.value)
      } else if let found {
        throw member.value.error("A step has one action, not both \"\(found.0)\" and \"\(member.name)\".")
      } else {
        found = (member.name, member.value)
      }
    }
    guard let found else { throw json.error("A step needs an action.") }
    name = found.0
    action = try SpecAction(found.0, found.1)
  }
}

/// One test of one file; names repeat between files.
package struct SpecTest: Sendable {
  package var file: String
  package var name: String
  package var tags: Set<String>
  package var usesEagerCollection: Bool
  package var maximumLimboResolutions: Int?
  /// Whether several clients share one store.
  package var hasSeveralClients: Bool { tags.contains("multi-client") }
  package var steps: [SpecStep]

  /// - Throws: an error that names the file, the test and, if the fault is in one, the step.
  init(file: String, name: String, _ json: JSONSyntax) throws(SpecFormatError) {
    var step: Int?
    do throws(JSONError) {
      try self.init(file: file, name: name, json, readingStep: &step)
    } catch {
      throw SpecFormatError(file, test: name, step: step, error)
    }
  }

  private init(
    file: String, name: String, _ json: JSONSyntax, readingStep: inout Int?
  ) throws(JSONError) {
    self.file = file
    self.name = name
    try json.only(["describeName", "itName", "tags", "config", "steps", "comment"])
    tags = Set(try json.member("tags").strings())
    let config = try json.member("config")
    try config.only([
      "useEagerGCForMemory", "numClients", "maxConcurrentLimboResolutions", "allowUnlistedTargetRemoval",
    ])
    usesEagerCollection = try config.member("useEagerGCForMemory").boolean()
    maximumLimboResolutions = try config["maxConcurrentLimboResolutions"]?.integer()
    let clients = try config.member("numClients").integer()
    let needsSeveral = tags.contains("multi-client")
    guard clients == 1 || needsSeveral else {
      throw config.error("A test of \(clients) clients needs the tag \"multi-client\".")
    }
    steps = []
    for (index, json) in try json.member("steps").elements().enumerated() {
      readingStep = index + 1
      let step = try SpecStep(json)
      guard step.client == 0 || needsSeveral else {
        throw json.error("A step of client \(step.client) needs the tag \"multi-client\".")
      }
      steps.append(step)
    }
  }

  /// All tests of a file's text.
  package static func parse(_ text: String, file: String) throws(SpecFormatError) -> [SpecTest] {
    let members: [JSONSyntax.Member]
    do throws(JSONError) { members = try JSONSyntax(parsing: text).members() } catch {
      throw SpecFormatError(file, error)
    }
    var tests: [SpecTest] = []
    for member in members { tests.append(try SpecTest(file: file, name: member.name, member.value)) }
    return tests
  }
}

package enum SpecStorage: String, Hashable, Sendable, CaseIterable { case memory, durable }

extension SpecTest {
  /// The reason why the test cannot run on a storage; `nil` if it can.
  package func reasonToSkip(on storage: SpecStorage) -> String? {
    // Tests of this kind trip an assertion of the reference implementation that no other implementation need have.
    if tags.isSuperset(of: ["multi-client", "no-web"]) { return "runs on no reference" }
    if tags.contains("benchmark") { return "is a benchmark" }
    switch storage {
    case .memory where hasSeveralClients: return "needs several clients on one store, which memory cannot be"
    case .memory where tags.contains("durable-persistence"): return "needs storage that survives a restart"
    case .durable where tags.contains("eager-gc"): return "needs eager collection, which only memory has"
    default: break
    }
    return nil
  }
}
