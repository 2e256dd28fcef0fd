/** The command line of `svc lsp` as data. Pure; throws a sentence when it cannot be understood. */
import type { PlaceOptions } from '../models/models-options.js'
import { pageOf, readLine } from '../../line/read-line.js'
import { LSP } from './lsp-pages.js'

export type LspOptions = PlaceOptions & ({ readonly action: 'list' } | { readonly action: 'accept' | 'revoke'; readonly id: string })

/** `readUrl` checks the address of a server. */
export function readLspArguments([action, ...rest]: readonly string[], readUrl: (value: string) => string): LspOptions {
  const page = pageOf(LSP, action)
  const { values, first: id } = readLine(page, rest)
  const place = {
    directory: values.dir,
    server: values.server === undefined ? undefined : readUrl(values.server),
    json: values.json,
  }
  if (page.name === 'lsp list') return { action: 'list', ...place }
  return { action: page.name === 'lsp accept' ? 'accept' : 'revoke', id, ...place }
}
