/** The operations of `dev.svc.lsp` (http-contract §5.9; subsystems e.6 to e.8). */
import type { NativePlugin } from '../../ports/plugin.js'
import type { OperationCall } from '../../ports/doors.js'
import { mayUseDirectory } from '../../protocol/caller.js'
import { type LspCapability, LspFileQuery, LspLinesQuery, LspPlaceQuery, LspTouchRequest, lspRoutes } from '../../protocol/lsp/lsp.js'
import type { Place } from '../../protocol/lsp/text-positions.js'
import { hintsOf, highlightsOf, locationsOf } from './answers/places.js'
import { rawOf } from './answers/raw.js'
import { callsOf, itemOf, type RawItem, rawItems, symbolsOf } from './answers/symbols.js'
import { hoversOf, signaturesOf } from './answers/texts.js'
import type { Clients } from './clients/clients.js'
import type { LspProvider } from './link/handshake.js'
import type { Asked, FileTarget, Queries } from './queries.js'

type Operations = NonNullable<ReturnType<NativePlugin['start']>['operations']>
/** Answers at a place, zero-based and in bytes. */
type AtPlace = (target: FileTarget, place: Place) => Promise<unknown[]>

export function askOperations(queries: Queries, clients: Clients): Operations {
  const { code, ...places } = placeQuestions(queries)
  const atPlace = (question: AtPlace) => async (call: OperationCall) => {
    const { file, line, character } = LspPlaceQuery.parse(call.query)
    return question(await queries.target(call.caller, call.directory, file, call.signal), { line, character })
  }
  const ofFile = (question: (target: FileTarget) => Promise<unknown[]>) => async (call: OperationCall) =>
    question(await queries.target(call.caller, call.directory, LspFileQuery.parse(call.query).file, call.signal))
  return {
    [lspRoutes.codeActions.id]: atPlace(code),
    [lspRoutes.definition.id]: atPlace(places.definition),
    [lspRoutes.documentHighlights.id]: atPlace(places.highlights),
    [lspRoutes.hover.id]: atPlace(places.hover),
    [lspRoutes.implementation.id]: atPlace(places.implementation),
    [lspRoutes.incomingCalls.id]: atPlace(places.incoming),
    [lspRoutes.outgoingCalls.id]: atPlace(places.outgoing),
    [lspRoutes.prepareCallHierarchy.id]: atPlace(places.prepare),
    [lspRoutes.references.id]: atPlace(places.references),
    [lspRoutes.signatureHelp.id]: atPlace(places.signature),
    [lspRoutes.diagnostics.id]: ofFile((target) => queries.diagnostics(target)),
    [lspRoutes.documentSymbols.id]: ofFile(documentSymbols(queries)),
    [lspRoutes.formatting.id]: ofFile((target) =>
      queries.ask(target, { provider: 'documentFormattingProvider', capability: 'formatting' }, async ({ request, document, reading }) =>
        rawOf(
          await request('textDocument/formatting', { textDocument: { uri: document.uri }, options: FORMATTING }),
          document.uri,
          reading,
        ),
      ),
    ),
    async [lspRoutes.inlayHints.id](call) {
      const { file, start_line, end_line } = LspLinesQuery.parse(call.query)
      const target = await queries.target(call.caller, call.directory, file, call.signal)
      return queries.ask(target, { provider: 'inlayHintProvider' }, async ({ request, document, reading, at }) => {
        const range = { start: at({ line: start_line, character: 0 }), end: at({ line: end_line + 1, character: 0 }) }
        return hintsOf(await request('textDocument/inlayHint', { textDocument: { uri: document.uri }, range }), document.uri, reading)
      })
    },
    async [lspRoutes.touch.id](call) {
      const { file, text } = LspTouchRequest.parse(call.body)
      return queries.touch(await queries.target(call.caller, call.directory, file, call.signal), text ?? undefined)
    },
    async [lspRoutes.shutdown.id]({ caller }) {
      await clients.retire((directory) => mayUseDirectory(caller, directory))
      return { shutdown: true }
    },
  }
}

const FORMATTING = { tabSize: 4, insertSpaces: true, trimTrailingWhitespace: true, insertFinalNewline: true, trimFinalNewlines: true }

export function documentSymbols(queries: Queries) {
  return (target: FileTarget) =>
    queries.ask(target, { provider: 'documentSymbolProvider', capability: 'document_symbols' }, async ({ request, document, reading }) =>
      symbolsOf(await request('textDocument/documentSymbol', { textDocument: { uri: document.uri } }), document.uri, reading),
    )
}

/** Symbols of the projects of a file by name. */
export function workspaceSymbols(queries: Queries) {
  return (target: FileTarget, query: string) =>
    queries.ask(target, { provider: 'workspaceSymbolProvider', capability: 'workspace_symbols' }, async ({ request, document, reading }) =>
      symbolsOf(await request('workspace/symbol', { query }), document.uri, reading),
    )
}

/** Questions about a place, for operations and for models. */
export function placeQuestions(queries: Queries) {
  const at =
    <Answer>(
      needs: { readonly provider: LspProvider; readonly capability?: LspCapability },
      method: string,
      read: (answer: unknown, asked: Asked) => Promise<Answer[]> | Answer[],
      more: object = {},
    ) =>
    (target: FileTarget, place: Place): Promise<Answer[]> =>
      queries.ask(target, needs, async (asked) => {
        const params = { textDocument: { uri: asked.document.uri }, position: asked.at(place), ...more }
        return read(await asked.request(method, params), asked)
      })
  const hierarchy = { provider: 'callHierarchyProvider', capability: 'call_hierarchy' } as const
  const prepare = 'textDocument/prepareCallHierarchy'
  const calls = (direction: 'incoming' | 'outgoing') =>
    at(hierarchy, prepare, async (answer, { request, reading }) => {
      const called = rawItems(answer).map(async (item: RawItem) =>
        callsOf(await request(`callHierarchy/${direction}Calls`, { item }), direction, item, reading),
      )
      return (await Promise.all(called)).flat()
    })
  return {
    definition: at({ provider: 'definitionProvider', capability: 'definition' }, 'textDocument/definition', (answer, { reading }) =>
      locationsOf(answer, reading),
    ),
    implementation: at(
      { provider: 'implementationProvider', capability: 'implementation' },
      'textDocument/implementation',
      (answer, { reading }) => locationsOf(answer, reading),
    ),
    references: at(
      { provider: 'referencesProvider', capability: 'references' },
      'textDocument/references',
      (answer, { reading }) => locationsOf(answer, reading),
      { context: { includeDeclaration: true } },
    ),
    highlights: at({ provider: 'documentHighlightProvider' }, 'textDocument/documentHighlight', (answer, { document, reading }) =>
      highlightsOf(answer, document.uri, reading),
    ),
    hover: at({ provider: 'hoverProvider', capability: 'hover' }, 'textDocument/hover', (answer, { document, reading }) =>
      hoversOf(answer, document.uri, reading),
    ),
    signature: at({ provider: 'signatureHelpProvider' }, 'textDocument/signatureHelp', (answer, { document, reading }) =>
      signaturesOf(answer, document.uri, reading),
    ),
    prepare: at(hierarchy, prepare, (answer, { reading }) => Promise.all(rawItems(answer).map((item) => itemOf(item, reading)))),
    incoming: calls('incoming'),
    outgoing: calls('outgoing'),
    code: (target: FileTarget, place: Place): Promise<unknown[]> =>
      queries.ask(
        target,
        { provider: 'codeActionProvider', capability: 'code_actions' },
        async ({ client, document, request, reading, at: units }) => {
          const position = units(place)
          const isBefore = (a: Place, b: Place) => a.line < b.line || (a.line === b.line && a.character <= b.character)
          const diagnostics = (client.diagnostics.of(document.path)?.items ?? []).filter(
            ({ range }) => isBefore(range.start, position) && isBefore(position, range.end),
          )
          const params = { textDocument: { uri: document.uri }, range: { start: position, end: position }, context: { diagnostics } }
          return rawOf(await request('textDocument/codeAction', params), document.uri, reading)
        },
      ),
  }
}
