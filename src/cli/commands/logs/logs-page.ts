/** What `svc logs` takes. */
import type { LogLevel } from '../../../platform/node/log.js'
import { JSON_OUT, type Page } from '../../line/page.js'

export const LOGS = {
  name: 'logs',
  summary: 'what the server and commands logged',
  words: [],
  options: {
    lines: { type: 'number', value: 'number', least: 1, most: 100_000, help: 'the last so many', otherwise: '50' },
    level: {
      type: 'text',
      value: 'level',
      choices: ['debug', 'info', 'warn', 'error'],
      help: 'this and what is worse',
      otherwise: 'everything that was kept',
    },
    plugin: { type: 'text', value: 'id', help: 'only what is about this plugin, its standard error included' },
    follow: { type: 'flag', short: 'f', help: 'go on with what comes, until Ctrl-C' },
    json: { ...JSON_OUT, help: 'print the lines as they are, one JSON object each' },
  },
  examples: [
    ['svc logs --level warn', 'what went wrong lately'],
    ['svc logs -f --plugin dev.example.hello', 'what a plugin says, as it says it'],
  ],
  notes: [
    'Kept are two files of some megabytes below log/ of the state directory, from "info" on, or everything where SVC_LOG is "debug". Prompts, answers and secrets are in none of it.',
  ],
} as const satisfies Page

export interface LogsOptions {
  readonly lines: number
  readonly level: Exclude<LogLevel, 'silent'> | undefined
  readonly plugin: string | undefined
  readonly follows: boolean
  readonly json: boolean
}
