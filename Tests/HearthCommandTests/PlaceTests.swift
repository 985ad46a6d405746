// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import FirestoreTesting
import Foundation
import Testing

@Suite("Places on the command line") struct PlaceTests {
  private let here = StorageOptions.Locations(
    database: DatabaseID(project: "p", database: "d"), cache: .memory, backend: .embedded(folder: "/here"))

  @Test(
    "A place on the command line is a path with an optional database and moment",
    arguments: [
      ("cities/SF", nil, "cities/SF"), ("/", nil, "/"), ("users/ada@example.org", nil, "users/ada@example.org"),
      ("/cities", nil, "/cities"), ("backup/cities", nil, "backup/cities"),
      ("connection:prod", .connection("prod"), nil), ("connection:prod/", .connection("prod"), nil),
      ("connection:prod/cities/SF", .connection("prod"), "cities/SF"),
      ("emulator:localhost:8080/cities", .emulator("localhost:8080"), "cities"),
      ("emulator:[::1]:8080", .emulator("[::1]:8080"), nil),
      ("cloud:my-project/a/b/c", .cloud(project: "my-project"), "a/b/c"),
      ("./backup", .folder("./backup"), nil), ("./backup/cities/SF", .folder("./backup"), "cities/SF"),
      ("/srv/data/cities", .folder("/srv/data"), "cities"), ("data:backup/cities", .folder("backup"), "cities"),
      ("../new/cities", .folder("../new/cities"), nil), ("data:new", .folder("new"), nil), (".", .folder("."), nil),
    ] as [(String, PlaceText.Database?, String?)])
  func parts(text: String, database: PlaceText.Database?, path: String?) {
    let place = PlaceText(text) { ["./backup", "backup", "/srv/data"].contains($0) }
    #expect(place.database == database)
    #expect(place.path == path)
    #expect(place.time == nil)
    let past = PlaceText(text + "@1970-01-02T00:00:00Z") { ["./backup", "backup", "/srv/data"].contains($0) }
    #expect(past.time == Timestamp(seconds: 86_400))
    #expect((past.database, past.path) == (database, path))
  }

  @Test("A folder or emulator given as a place uses the options' project and database")
  func databases() throws {
    func name(_ text: String) throws -> String { try NamedPlace(text, in: here).locations.name }
    #expect(try name("cities") == "p/d in /here")
    #expect(try name("./elsewhere") == "p/d in ./elsewhere")
    #expect(try name("emulator:localhost:80/cities") == "p/d at localhost:80")
    #expect(try NamedPlace("emulator:localhost/cities", in: here).path?.text == "cities")
  }

  @Test(
    "An invalid place is rejected with the reason",
    arguments: [
      ("emulator:", "emulator:"), ("emulator:localhost:99999", "99999"), ("data:", "data:backup"),
      ("cloud:/cities", "cloud:my-project"), ("connection:/a", "connection:prod"),
    ])
  func refused(text: String, reason: String) {
    let failure = #expect(throws: CommandFailure.self) { try NamedPlace(text, in: here) }
    #expect(failure?.message.contains(reason) == true, "\(failure?.message ?? "")")
  }

  @Test("Places at an earlier time and read-only connections reject writes")
  func writable() throws {
    var place = try NamedPlace("cities@-10m", in: here)
    #expect(throws: CommandFailure.self) { try place.requireWritable("cities@-10m") }
    place.time = nil
    try place.requireWritable("cities")
    place.locations.isReadOnly = true
    let failure = #expect(throws: CommandFailure.self) { try place.requireWritable("cities") }
    #expect(failure?.status == .permissionDenied)
  }
}
