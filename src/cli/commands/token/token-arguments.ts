/** The command line of `svc token` as data. Pure; throws a sentence when it cannot be understood. */
import { pageOf, readLine } from '../../line/read-line.js'
import { TOKEN } from './token-pages.js'

interface TokenPlace {
  /** undefined = what the environment names. */
  readonly file: string | undefined
  readonly json: boolean
}

export type TokenOptions =
  | ({ readonly action: 'create'; readonly tenant: string; readonly directories: readonly string[] } & TokenPlace)
  | ({ readonly action: 'list' } & TokenPlace)
  | ({ readonly action: 'revoke'; readonly id: string } & TokenPlace)

export function readTokenArguments(args: readonly string[]): TokenOptions {
  const [action, ...rest] = args
  const page = pageOf(TOKEN, action)
  switch (page.name) {
    case 'token create': {
      const { values, first } = readLine(page, rest)
      return { action: 'create', tenant: first, directories: values.directory, file: values.file, json: values.json }
    }
    case 'token list':
      return { action: 'list', ...readLine(page, rest).values }
    case 'token revoke': {
      const { values, first } = readLine(page, rest)
      return { action: 'revoke', id: first, ...values }
    }
  }
}
