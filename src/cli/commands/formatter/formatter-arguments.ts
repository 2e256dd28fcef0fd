/** The command line of `svc formatter` as data. Pure; throws a sentence when it cannot be understood. */
import type { PlaceOptions } from '../models/models-options.js'
import { pageOf, readLine } from '../../line/read-line.js'
import { FORMATTER } from './formatter-pages.js'

export type FormatterOptions = PlaceOptions & ({ readonly action: 'list' } | { readonly action: 'accept' | 'revoke'; readonly id: string })

/** `readUrl` checks the address of a server. */
export function readFormatterArguments([action, ...rest]: readonly string[], readUrl: (value: string) => string): FormatterOptions {
  const page = pageOf(FORMATTER, action)
  const { values, first: id } = readLine(page, rest)
  const place = {
    directory: values.dir,
    server: values.server === undefined ? undefined : readUrl(values.server),
    json: values.json,
  }
  if (page.name === 'formatter list') return { action: 'list', ...place }
  return { action: page.name === 'formatter accept' ? 'accept' : 'revoke', id, ...place }
}
