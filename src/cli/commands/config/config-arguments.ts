/** The command line of `svc config` as data. Pure; throws a sentence when it cannot be understood. */
import { pageOf, readLine } from '../../line/read-line.js'
import { CONFIG } from './config-pages.js'

interface Common {
  /** The workspace; undefined = the current directory. */
  readonly directory: string | undefined
  readonly json: boolean
}

export interface GetOptions extends Common {
  /** Dotted; undefined = everything. */
  readonly key: string | undefined
}

export interface SetOptions extends Common {
  readonly key: string
  /** JSON, or text. */
  readonly value: string
  readonly global: boolean
  /** Also a key that svc does not know. */
  readonly force: boolean
}

export type ConfigOptions =
  | ({ readonly action: 'get' } & GetOptions)
  | ({ readonly action: 'set' } & SetOptions)
  | ({ readonly action: 'path' } & Common)
  | ({ readonly action: 'validate' } & Common)
  | { readonly action: 'schema' }

export function readConfigArguments(args: readonly string[]): ConfigOptions {
  const [action, ...rest] = args
  const page = pageOf(CONFIG, action)
  switch (page.name) {
    case 'config get': {
      const { values, words } = readLine(page, rest)
      return { action: 'get', directory: values.dir, json: values.json, key: words[0] }
    }
    case 'config set': {
      const { values, words, first } = readLine(page, rest)
      const { dir, json, global, force } = values
      return { action: 'set', directory: dir, json, key: first, value: words[1] ?? '', global, force }
    }
    case 'config path': {
      const { values } = readLine(page, rest)
      return { action: 'path', directory: values.dir, json: values.json }
    }
    case 'config validate': {
      const { values } = readLine(page, rest)
      return { action: 'validate', directory: values.dir, json: values.json }
    }
    case 'config schema':
      readLine(page, rest)
      return { action: 'schema' }
  }
}
