/** The command line of `svc request` as data. Pure; throws a sentence when it cannot be understood. */
import { pageOf, readLine } from '../../line/read-line.js'
import { REQUEST_PAGES } from './request-pages.js'

interface Common {
  /** undefined = the server that uses our state directory. */
  readonly server: string | undefined
  readonly json: boolean
}

export interface ListOptions extends Common {
  /** undefined = of every one. */
  readonly session: string | undefined
  readonly watch: boolean
}

export interface AnswerOptions extends Common {
  /** A number that was shown, or an id. */
  readonly request: string
  readonly words: readonly string[]
  readonly declines: boolean
}

export interface ShowOptions extends Common {
  readonly request: string
}

export type RequestOptions =
  | ({ readonly action: 'list' } & ListOptions)
  | ({ readonly action: 'answer' } & AnswerOptions)
  | ({ readonly action: 'show' } & ShowOptions)

/** `readUrl` checks the address of a server. */
export function readRequestArguments([action, ...rest]: readonly string[], readUrl: (value: string) => string): RequestOptions {
  const page = pageOf(REQUEST_PAGES, action)
  const common = ({ server, json }: { readonly server: string | undefined; readonly json: boolean }): Common => ({
    server: server === undefined ? undefined : readUrl(server),
    json,
  })
  switch (page.name) {
    case 'request list': {
      const { values } = readLine(page, rest)
      return { action: 'list', ...common(values), session: values.session, watch: values.watch }
    }
    case 'request answer': {
      const { values, words } = readLine(page, rest)
      const [request = '', ...answer] = words
      if (values.decline && answer.length > 0) throw new Error('--decline needs no answer')
      if (!values.decline && answer.length === 0) throw new Error('svc request answer needs an answer: y, a, n or a text; or --decline')
      return { action: 'answer', ...common(values), request, words: answer, declines: values.decline }
    }
    case 'request show': {
      const { values, first } = readLine(page, rest)
      return { action: 'show', ...common(values), request: first }
    }
  }
}
