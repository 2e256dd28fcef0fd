/** What `svc inspect` takes. */
import { JSON_OUT, type Page, SERVER } from '../../line/page.js'

export const INSPECT = {
  name: 'inspect',
  summary: 'look at the actors of a running server',
  words: [],
  options: {
    open: { type: 'flag', help: 'open the page in a browser' },
    server: { ...SERVER, help: 'the server to look at', otherwise: 'the local one' },
    trace: { type: 'text', value: 'file', completes: 'file', help: 'show a saved trace instead, without a server' },
    json: { ...JSON_OUT, help: 'print the address as JSON' },
  },
  examples: [
    ['svc inspect --open', 'the running server, in a browser'],
    ['svc inspect --trace saved.json', 'a trace that was saved'],
  ],
  notes: ['Prints the address of the inspector: live actors, their state charts and what happens to them.'],
} as const satisfies Page

export interface InspectOptions {
  readonly server: string | undefined
  /** A saved trace to look at, instead of a server. */
  readonly trace: string | undefined
  readonly open: boolean
  readonly json: boolean
}
