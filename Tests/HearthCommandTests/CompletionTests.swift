// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Testing

@testable import CommandOptions
@testable import HearthCommand

/// What an unfinished word can become.
@Suite struct CompletionTests {
  private let datastore: InProcessDatastore
  private var engine: CompletionEngine

  init() throws {
    let backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_700_000_000) }))
    let datastore = InProcessDatastore(backend: backend, database: database)
    self.datastore = datastore
    engine = CompletionEngine(
      grammar: try #require(CommandGrammar.ofProcess),
      place: { options in
        options.contains("--emulator") ? nil : CompletionPlace(datastore: datastore, database: database)
      },
      connections: { [NamedConnection(name: "local", place: ""), NamedConnection(name: "prod", place: "")] })
    engine.patience = .seconds(60)
  }

  private func seed() async throws {
    let fields: Fields = ["name": .string("x"), "population": .integer(1), "place": .map(["city": .string("y")])]
    let paths = ["cities/LA", "cities/SF", "cities/SF/parks/a", "cities/ghost/parks/a", "citizens/my id", "users/a"]
    _ = try await datastore.commit(
      paths.map {
        Mutation(key: DocumentKey(unchecked: ResourcePath($0)), operation: .set($0 == "users/a" ? [:] : fields))
      })
  }

  /// What the last word of a line becomes.
  private func values(_ line: String...) async -> [String] {
    await engine.complete(line.dropLast(), line.last ?? "").candidates.map(\.value)
  }

  @Test("Commands, synonyms and options are completed")
  func names() async {
    #expect(await values("dele") == ["delete"])
    #expect(await values("remo") == ["delete"])
    #expect(await values("help", "cou") == ["count"])
    #expect(await values("theme", "c") == ["check"])
    #expect(await values("get", "--col") == ["--collection-group"])
    #expect(await values("get", "a", "--limit", "5", "--limi") == ["--limit-to-last"])
    #expect(await values("get", "a", "--where", "x == 1", "--wher") == ["--where"])
    #expect(await values("--no-r") == ["--no-restore"])
    #expect(await values("get", "--", "--col") == [])
    #expect(await values("get", "a", "--source", "") == ["server", "cache"])
    #expect(await values("get", "a", "--source=c") == ["--source=cache"])
    #expect(await values("get", "a", "-C", "p") == ["prod"])
    #expect(await values("--theme", "nor") == ["nord"])
    #expect(await values("paths", "x", "y") == [])
    #expect(await values("").contains("__complete") == false)
  }

  @Test("The user's shell completes file names")
  func files() async {
    #expect(await engine.complete(["import"], "x").files == .file)
    #expect(await engine.complete(["get", "a", "--data"], "").files == .directory)
    #expect(await engine.complete(["export", "a", "-o"], "").files == .file)
    #expect(await engine.complete(["theme", "check", "a"], "").files == .file)
    #expect(await engine.complete(["play", "--live"], "./x").files == .file)
    #expect(await engine.complete(["play", "--live"], "confl").candidates.map(\.value).contains("conflict"))
  }

  @Test("Collections, ids and subcollections are completed")
  func paths() async throws {
    try await seed()
    #expect(await values("get", "cit") == ["cities/", "citizens/"])
    #expect(await values("get", "/cit") == ["/cities/", "/citizens/"])
    #expect(await values("get", "cities/") == ["cities/LA", "cities/SF", "cities/ghost"])
    #expect(await values("get", "cities/S") == ["cities/SF"])
    #expect(await values("get", "cities/SF/") == ["cities/SF/parks/"])
    #expect(await values("get", "cities/ghost/parks/") == ["cities/ghost/parks/a"])
    #expect(await values("copy", "cities", "us") == ["users/"])
    #expect(await values("get", "nope/") == [])
    #expect(await values("get", "a//") == [])
    #expect(await values("get", "--emulator", "127.0.0.1:1", "cit") == [])
  }

  @Test("Fields of the collection are completed in every position")
  func fields() async throws {
    try await seed()
    #expect(await values("sum", "cities", "po") == ["population"])
    #expect(await values("get", "cities", "--order", "pop") == ["population"])
    #expect(await values("get", "cities", "--order", "population") == ["population", "population:desc"])
    #expect(await values("get", "cities", "--order", "population:") == ["population:asc", "population:desc"])
    #expect(await values("get", "cities", "--select", "name,place.c") == ["name,place.city"])
    #expect(await values("get", "cities", "--where", "na") == ["name"])
    #expect(await values("get", "cities", "--where", "name == x and (pop") == ["name == x and (population"])
    #expect(await values("get", "cities", "--where", "name =") == ["name =="])
    #expect(await values("get", "cities", "--where", "name == ") == [])
    #expect(await values("update", "cities/SF", "na") == ["name="])
    #expect(await values("get", "parks", "--collection-group", "--select", "na") == ["name"])
    #expect(await values("sum", "nope", "") == [])
  }

  @Test("Completion in a large collection offers one page and says that there is more")
  func bounded() async throws {
    let keys = (0..<150).map { DocumentKey(unchecked: ResourcePath("many/id\($0)")) }
    _ = try await datastore.commit(keys.map { Mutation(key: $0, operation: .set([:])) })
    let all = await engine.complete(["get"], "many/id")
    #expect(all.candidates.count == CompletionLookup.limit && all.isCut)
    #expect(await values("get", "many/id149") == ["many/id149"])
  }

  @Test("TAB completes a unique match, and lists several with descriptions")
  func line() async throws {
    try await seed()
    let one = await ShellCompletion(of: "count a; get cities/L", engine: engine)
    #expect(one?.start == 13 && one?.typed == "cities/LA ")
    #expect(one?.rows(columns: 80, height: 24) == [])
    #expect(await ShellCompletion(of: "get ci", engine: engine)?.typed == "citi")
    let several = await ShellCompletion(of: "get citi", engine: engine)
    #expect(several?.typed == nil)
    #expect(several?.rows(columns: 80, height: 24) == ["cities/    collection", "citizens/  collection"])
    #expect(await ShellCompletion(of: "get 'citiz", engine: engine)?.typed == "'citizens/")
    #expect(await ShellCompletion(of: "get citizens/", engine: engine)?.typed == "citizens/my\\ id ")
    #expect(await ShellCompletion(of: "get 'citizens/", engine: engine)?.typed == "'citizens/my id' ")
    let quoted = await ShellCompletion(of: "get cities --where 'name == x and pop", engine: engine)
    #expect(quoted?.typed == "'name == x and population")
    #expect(await ShellCompletion(of: "\\c pr", engine: engine)?.typed == "prod ")
    #expect(await ShellCompletion(of: "\\ti", engine: engine)?.typed == "timing ")
    #expect(await ShellCompletion(of: "\\d cities/L", engine: engine)?.typed == "cities/LA ")
    #expect(await ShellCompletion(of: "get # ci", engine: engine) == nil)
  }

  @Test("Completion in other shells returns the replacement text and no messages")
  func scripts() async throws {
    try await seed()
    func answer(_ shell: String, _ arguments: String...) async -> String {
      await CompletionAnswer.answer(shell, arguments, engine)
    }
    #expect(await answer("fish", "hearth", "get", "cit") == "cities/\tcollection\ncitizens/\tcollection\n")
    #expect(await answer("zsh", "hearth", "get", "cities/L") == "+\tcities/LA\tdocument\n")
    #expect(await answer("bash", "hearth get cities/L", "cities/L") == "cities/LA \n")
    #expect(await answer("bash", "hearth get cities --order population:d", "d") == "desc \n")
    #expect(await answer("bash", "hearth get cities --source=s", "s") == "server \n")
    #expect(await answer("bash", "cd x; hearth get 'citizens/", "'citizens/") == "'citizens/my id' \n")
    #expect(await answer("bash", "ls | /usr/bin/hearth get citizens/m", "citizens/m") == "citizens/my\\ id \n")
    #expect(await answer("bash", "hearth import ", "") == ":files\n")
    #expect(await answer("bash", "hearth") == "")
    #expect(await answer("fish") == "")
    for shell in ["bash", "zsh", "fish"] {
      #expect(CompletionScript.script(for: shell)?.contains("__complete \(shell)") == true)
    }
    #expect(CompletionScript.script(for: "tcsh") == nil)
  }
}
