/** The greeting of a language server: what we say we can, and what it says it does (subsystems e.4). */
import type { InitializeParams } from 'vscode-languageserver-protocol'
import * as z from 'zod'
import type { PositionEncoding } from '../../../protocol/lsp/text-positions.js'

const Provider = z.union([z.boolean(), z.looseObject({})]).nullish()
const PROVIDERS = {
  hoverProvider: Provider,
  definitionProvider: Provider,
  referencesProvider: Provider,
  implementationProvider: Provider,
  documentHighlightProvider: Provider,
  documentSymbolProvider: Provider,
  codeActionProvider: Provider,
  documentFormattingProvider: Provider,
  inlayHintProvider: Provider,
  callHierarchyProvider: Provider,
  signatureHelpProvider: Provider,
  workspaceSymbolProvider: Provider,
}
export type LspProvider = keyof typeof PROVIDERS

const Sync = z.union([
  z.number(),
  z.looseObject({
    openClose: z.boolean().nullish(),
    change: z.number().nullish(),
    save: z.union([z.boolean(), z.looseObject({ includeText: z.boolean().nullish() })]).nullish(),
  }),
])
const InitializeResult = z.looseObject({
  capabilities: z.looseObject({
    ...PROVIDERS,
    positionEncoding: z.string().nullish(),
    textDocumentSync: Sync.nullish(),
    diagnosticProvider: z.looseObject({ identifier: z.string().nullish() }).nullish(),
  }),
  /** Of clangd, before the protocol had it. */
  offsetEncoding: z.string().nullish(),
})

export interface ServerTraits {
  readonly encoding: PositionEncoding
  readonly openClose: boolean
  readonly change: 'none' | 'full' | 'incremental'
  readonly save: 'no' | 'bare' | 'text'
  /** It answers when it is asked for diagnostics. */
  readonly pull: { readonly identifier: string | undefined } | undefined
  has(provider: LspProvider): boolean
}

const ENCODINGS: Readonly<Record<string, PositionEncoding>> = { 'utf-8': 'utf-8', 'utf-16': 'utf-16', 'utf-32': 'utf-32' }
const CHANGES = ['none', 'full', 'incremental'] as const

/** Throws when it is no answer to `initialize`. */
export function readTraits(answer: unknown): ServerTraits {
  const { capabilities, offsetEncoding } = InitializeResult.parse(answer)
  const { positionEncoding, textDocumentSync: sync, diagnosticProvider } = capabilities
  const options = typeof sync === 'number' ? { openClose: sync > 0, change: sync, save: sync > 0 } : (sync ?? {})
  const { save } = options
  return {
    encoding: ENCODINGS[positionEncoding ?? offsetEncoding ?? 'utf-16'] ?? 'utf-16',
    openClose: options.openClose === true,
    change: CHANGES[options.change ?? 0] ?? 'none',
    save: save === undefined || save === null || save === false ? 'no' : save !== true && save.includeText === true ? 'text' : 'bare',
    pull: diagnosticProvider ? { identifier: diagnosticProvider.identifier ?? undefined } : undefined,
    has(provider) {
      const said = capabilities[provider]
      return said !== undefined && said !== null && said !== false
    },
  }
}

const fixed = { dynamicRegistration: false } as const

export interface Greeting {
  readonly root: string
  readonly rootUri: string
  readonly rootName: string
  readonly initializationOptions: unknown
  readonly version: string
}

export function initializeParams({ root, rootUri, rootName, initializationOptions, version }: Greeting) {
  return {
    processId: null,
    clientInfo: { name: 'svc', version },
    rootPath: root,
    rootUri,
    workspaceFolders: [{ uri: rootUri, name: rootName }],
    initializationOptions: initializationOptions ?? {},
    capabilities: {
      general: { positionEncodings: ['utf-8', 'utf-16', 'utf-32'] },
      window: { workDoneProgress: false, showDocument: { support: false } },
      workspace: {
        applyEdit: false,
        configuration: true,
        workspaceFolders: true,
        didChangeConfiguration: fixed,
        symbol: fixed,
      },
      textDocument: {
        synchronization: { ...fixed, didSave: true, willSave: false, willSaveWaitUntil: false },
        publishDiagnostics: {
          versionSupport: true,
          relatedInformation: true,
          tagSupport: { valueSet: [1, 2] },
          codeDescriptionSupport: true,
        },
        diagnostic: { ...fixed, relatedDocumentSupport: true },
        hover: { ...fixed, contentFormat: ['markdown', 'plaintext'] },
        definition: { ...fixed, linkSupport: true },
        implementation: { ...fixed, linkSupport: true },
        references: fixed,
        documentHighlight: fixed,
        documentSymbol: { ...fixed, hierarchicalDocumentSymbolSupport: true },
        codeAction: {
          ...fixed,
          codeActionLiteralSupport: {
            codeActionKind: { valueSet: ['', 'quickfix', 'refactor', 'refactor.extract', 'refactor.inline', 'refactor.rewrite', 'source'] },
          },
        },
        completion: { ...fixed, completionItem: { snippetSupport: false } },
        formatting: fixed,
        inlayHint: fixed,
        callHierarchy: fixed,
        signatureHelp: {
          ...fixed,
          signatureInformation: { parameterInformation: { labelOffsetSupport: true }, activeParameterSupport: true },
        },
      },
    },
  } satisfies InitializeParams
}
