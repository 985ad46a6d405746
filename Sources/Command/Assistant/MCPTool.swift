// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreJSON

/// A tool of the server: its arguments, and how a call with these arguments is answered.
struct MCPTool: Sendable {
  /// An argument, with its JSON type and its position on the command line.
  struct Argument: Sendable {
    enum Kind: Sendable {
      case text
      /// A path, which is a positional argument.
      case path
      case documentPath
      case flag
      /// A number in a range, with its default value. `unit` is appended to the number on the command line.
      case number(ClosedRange<Int>, usual: Int, unit: String = "")
      /// A list of strings; a single string is also accepted.
      case texts
      /// An object, or a string that contains the object as JSON.
      case object
    }

    let name: String
    let kind: Kind
    /// The command-line option for the argument; `nil` for a positional argument.
    let option: String?
    let isRequired: Bool
    let text: String

    init(_ name: String, _ kind: Kind, as option: String? = nil, required: Bool = false, _ text: String) {
      (self.name, self.kind, self.option, isRequired, self.text) = (name, kind, option, required, text)
    }

    /// The JSON schema.
    var schema: JSONSyntax {
      let type: [(String, JSONSyntax)] =
        switch kind {
        case .text, .path, .documentPath: [("type", "string")]
        case .flag: [("type", "boolean")]
        case .number(let range, let usual, _):
          [
            ("type", "integer"), ("minimum", .number(range.lowerBound)), ("maximum", .number(range.upperBound)),
            ("default", .number(usual)),
          ]
        case .texts: [("type", "array"), ("items", ["type": "string"])]
        case .object: [("type", "object")]
        }
      return .object([("description", .text(text))] + type)
    }

    /// The reason why a value is invalid; `nil` if it is valid.
    func objection(to value: JSONSyntax) -> String? {
      switch (kind, value.kind) {
      case (.text, .string), (.flag, .boolean), (.texts, .string), (.object, .object), (.object, .string): return nil
      case (.path, .string(let path)), (.documentPath, .string(let path)):
        // A path never becomes an option of a command line.
        if path.isEmpty || path.hasPrefix("-") { return "must be a path such as cities or cities/SF" }
        guard case .documentPath = kind, !path.split(separator: "/").count.isMultiple(of: 2) || path == "/" else {
          return nil
        }
        return "must be the path of a document"
      case (.number(let range, _, _), .integer(let number)):
        return range.contains(Int(clamping: number)) ? nil : "must be from \(range.lowerBound) to \(range.upperBound)"
      case (.texts, .array(let elements)) where elements.allSatisfy({ $0.stringValue != nil }): return nil
      default: return "must be of type \(schema["type"]?.stringValue ?? "")"
      }
    }

    /// The words on the command line that represent a value.
    func words(_ value: JSONSyntax?) -> [String] {
      func words(_ values: [String]) -> [String] { values.flatMap { (option.map { [$0] } ?? []) + [$0] } }
      switch (kind, value?.kind) {
      case (.flag, .boolean(true)?): return option.map { [$0] } ?? []
      case (.number(_, let usual, let unit), nil): return words(["\(usual)\(unit)"])
      case (.number(_, _, let unit), .integer(let number)?): return words(["\(number)\(unit)"])
      case (_, .string(let text)?): return words([text])
      case (.texts, .array(let elements)?): return words(elements.compactMap(\.stringValue))
      case (.object, .object?): return words([value?.lineText ?? ""])
      default: return []
      }
    }
  }

  enum Work: Sendable {
    /// A command of Hearth: its name, and fixed words for the command line that are appended after the arguments.
    case command(String, [String])
    /// A function that answers the call without a command. It returns the text of the response, or throws the reason
    /// for a failure.
    case answer(@Sendable (MCPArguments, AssistantCommands) throws -> String)
  }

  let name: String
  let text: String
  let arguments: [Argument]
  let writes: Bool
  let work: Work

  init(_ name: String, _ text: String, _ arguments: [Argument], writes: Bool = false, _ work: Work) {
    (self.name, self.text, self.arguments, self.writes, self.work) = (name, text, arguments, writes, work)
  }

  var description: JSONSyntax {
    [
      "name": .text(name), "description": .text(text),
      "inputSchema": [
        "type": "object", "properties": .object(arguments.map { ($0.name, $0.schema) }),
        "required": .array(arguments.filter(\.isRequired).map { .text($0.name) }), "additionalProperties": false,
      ],
      "annotations": ["readOnlyHint": .flag(!writes), "destructiveHint": .flag(writes), "openWorldHint": false],
    ]
  }

  /// The result of a call. The failure of a command is returned as a result for the assistant, not as a protocol error.
  func result(_ values: MCPArguments, by commands: AssistantCommands) async throws(JSONRPCError) -> JSONSyntax {
    switch work {
    case .command(let command, let last):
      let result = await commands.run([command] + arguments.flatMap { $0.words(values[$0.name]) } + last)
      var text = result.output
      if result.isCut { text += "The output is truncated. Use limit for fewer documents or select for fewer fields." }
      // Notes belong to the answer: they say where a field, a collection or a project is likely to be.
      if !result.errors.isEmpty { text += (text.isEmpty || text.hasSuffix("\n") ? "" : "\n") + result.errors }
      if text.isEmpty { text = writes ? "Done." : "Nothing was found." }
      return Self.content(text, isError: result.status != 0)
    case .answer(let answer):
      do { return Self.content(try answer(values, commands), isError: false) } catch {
        if let error = error as? JSONRPCError { throw error }
        return Self.content((error as? CommandFailure)?.message ?? "\(error)", isError: true)
      }
    }
  }

  private static func content(_ text: String, isError: Bool) -> JSONSyntax {
    ["content": [["type": "text", "text": .text(text)]], "isError": .flag(isError)]
  }
}

/// The arguments of a call, validated against the tool's arguments.
struct MCPArguments: Sendable {
  private var values: [String: JSONSyntax] = [:]

  /// - Throws: `invalidParams` for an unknown, missing or invalid argument.
  init(_ syntax: JSONSyntax?, of tool: MCPTool) throws(JSONRPCError) {
    if let syntax {
      guard case .object(let members) = syntax.kind else {
        throw JSONRPCError(.invalidParams, "\"arguments\" must be an object.")
      }
      for member in members {
        guard let argument = tool.arguments.first(where: { $0.name == member.name }) else {
          let known = tool.arguments.map(\.name).joined(separator: ", ")
          throw JSONRPCError(
            .invalidParams,
            "\(tool.name) has no argument \"\(member.name)\". Arguments: \(known.isEmpty ? "none" : known).")
        }
        if case .null = member.value.kind, !argument.isRequired { continue }
        if let objection = argument.objection(to: member.value) {
          throw JSONRPCError(.invalidParams, "\"\(argument.name)\" \(objection).")
        }
        values[member.name] = member.value
      }
    }
    for argument in tool.arguments where argument.isRequired && values[argument.name] == nil {
      throw JSONRPCError(.invalidParams, "\(tool.name) needs the argument \"\(argument.name)\".")
    }
  }

  subscript(name: String) -> JSONSyntax? { values[name] }

  func text(_ name: String) -> String? { values[name]?.stringValue }

  /// The value of an object argument. A string is parsed as JSON.
  func object(_ name: String) throws(JSONRPCError) -> JSONSyntax? {
    guard let text = text(name) else { return values[name] }
    do throws(JSONError) { return try JSONSyntax(parsing: text) } catch {
      throw JSONRPCError(.invalidParams, "\"\(name)\", column \(error.column): \(error.reason)")
    }
  }
}
