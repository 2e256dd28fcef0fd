/** The command line of `svc token` as data. Pure; throws a sentence when it cannot be understood. */
import { QUOTAS, type Quotas } from '../../../protocol/caller.js'
import { pageOf, readLine } from '../../line/read-line.js'
import { TOKEN } from './token-pages.js'

interface TokenPlace {
  /** undefined = what the environment names. */
  readonly file: string | undefined
  readonly json: boolean
}

export type TokenOptions =
  | ({ readonly action: 'create'; readonly tenant: string; readonly directories: readonly string[]; readonly quotas: Quotas } & TokenPlace)
  | ({ readonly action: 'list' } & TokenPlace)
  | ({ readonly action: 'revoke'; readonly id: string } & TokenPlace)

export function readTokenArguments(args: readonly string[]): TokenOptions {
  const [action, ...rest] = args
  const page = pageOf(TOKEN, action)
  switch (page.name) {
    case 'token create': {
      const { values, first } = readLine(page, rest)
      const { directory: directories, file, json } = values
      return { action: 'create', tenant: first, directories, quotas: quotasIn(values), file, json }
    }
    case 'token list':
      return { action: 'list', ...readLine(page, rest).values }
    case 'token revoke': {
      const { values, first } = readLine(page, rest)
      return { action: 'revoke', id: first, ...values }
    }
  }
}

/** Fields of the file by what is typed: `maxSessions` is `--max-sessions`. */
function quotasIn(values: Readonly<Record<string, unknown>>): Quotas {
  const named = QUOTAS.flatMap((name) => {
    const option = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const value = values[option]
    return value === undefined ? [] : [[name, typeof value === 'string' ? amountOf(option, value) : value] as const]
  })
  return Object.fromEntries(named)
}

function amountOf(option: string, text: string): number {
  if (/^\d{1,9}(?:\.\d{1,6})?$/.test(text)) return Number(text)
  throw new Error(`--${option} must be an amount such as 5 or 0.25, not "${text}"`)
}
