/** Valid calls of the operations of language servers, on one that answers everything. */
import { fileURLToPath } from 'node:url'
import type { ValidCall } from './world.js'

const LSP = '/v2/plugins/dev.svc.lsp'
const SCRIPTED = fileURLToPath(new URL('../../fixtures/lsp-scripted.mjs', import.meta.url))
const FORMATTERS = '/v2/plugins/dev.svc.files/formatters'
const FILE = 'file=tool.it'
const PLACE = `${FILE}&line=0&character=0`

/** The formatter `mine`, as it is configured. */
export const FORMATTER = { mine: { command: 'true $FILE', extensions: ['mine'] } }

/** The language server `it`, as it is configured. */
export const SCRIPTED_LSP = { command: [process.execPath, SCRIPTED, 'all'], extensions: ['it'], language: 'it' }

const get =
  (path: string): ValidCall =>
  ({ server, scene }) => {
    scene.place.write('tool.it', 'bad')
    return server.call('GET', `${LSP}${path}`)
  }

export const LSP_CALLS: Readonly<Record<string, ValidCall>> = {
  'v2.plugins.lsp.status': get(''),
  'v2.plugins.lsp.codeActions': get(`/code-actions?${PLACE}`),
  'v2.plugins.lsp.definition': get(`/definition?${PLACE}`),
  'v2.plugins.lsp.diagnostics': get(`/diagnostics?${FILE}`),
  'v2.plugins.lsp.documentHighlights': get(`/document-highlights?${PLACE}`),
  'v2.plugins.lsp.documentSymbols': get(`/document-symbols?${FILE}`),
  'v2.plugins.lsp.formatting': get(`/formatting?${FILE}`),
  'v2.plugins.lsp.hover': get(`/hover?${PLACE}`),
  'v2.plugins.lsp.implementation': get(`/implementation?${PLACE}`),
  'v2.plugins.lsp.incomingCalls': get(`/incoming-calls?${PLACE}`),
  'v2.plugins.lsp.outgoingCalls': get(`/outgoing-calls?${PLACE}`),
  'v2.plugins.lsp.inlayHints': get(`/inlay-hints?${FILE}&start_line=0&end_line=0`),
  'v2.plugins.lsp.prepareCallHierarchy': get(`/prepare-call-hierarchy?${PLACE}`),
  'v2.plugins.lsp.references': get(`/references?${PLACE}`),
  'v2.plugins.lsp.signatureHelp': get(`/signature-help?${PLACE}`),
  'v2.plugins.lsp.touch': ({ server }) => server.call('POST', `${LSP}/touch`, { file: 'tool.it', text: 'bad' }),
  'v2.plugins.lsp.acceptances': async ({ server }) => {
    await server.call('POST', `${LSP}/it/acceptance`)
    return server.call('GET', `${LSP}/acceptances`)
  },
  'v2.plugins.lsp.accept': ({ server }) => server.call('POST', `${LSP}/it/acceptance`, {}),
  'v2.plugins.lsp.takeBack': async ({ server }) => {
    await server.call('POST', `${LSP}/it/acceptance`)
    return server.call('DELETE', `${LSP}/it/acceptance`)
  },
  'v2.plugins.files.formatters': ({ server }) => server.call('GET', FORMATTERS),
  'v2.plugins.files.formatters.accept': ({ server }) => server.call('POST', `${FORMATTERS}/mine/acceptance`, {}),
  'v2.plugins.files.formatters.takeBack': ({ server }) => server.call('DELETE', `${FORMATTERS}/mine/acceptance`),
  'v2.plugins.lsp.shutdown': ({ server }) => server.call('POST', `${LSP}/shutdown`),
}
