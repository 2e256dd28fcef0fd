/** Permission rules in the words of people. Pure. */
import { isRecord } from '../../../protocol/text/json.js'

export interface RuleWords {
  /** What happens without a question. */
  readonly unasked: readonly string[]
  readonly asks: readonly string[]
  readonly denied: readonly string[]
}

const LISTS = { allow: 'unasked', ask: 'asks', deny: 'denied' } as const
const NAMES: Readonly<Record<string, string>> = {
  external_directory: 'files outside of the directory',
  doom_loop: 'the same call again and again',
  network: 'the network for commands in the sandbox',
  git: 'programs that a repository names for git to start',
}

/** `permission` as agents have it: an action for a kind of call, or one for each pattern. What says nothing beyond `*` is left out. */
export function ruleWords(permission: Readonly<Record<string, unknown>>): RuleWords {
  const words: Record<keyof RuleWords, string[]> = { unasked: [], asks: [], denied: [] }
  const general = permission['*']
  for (const [kind, rule] of Object.entries(permission)) {
    if (kind === '*') continue
    const patterns = isRecord(rule) ? Object.entries(rule) : [['*', rule] as const]
    const own = patterns.find(([pattern]) => pattern === '*')?.[1] ?? general
    const ownList = listOf(own)
    if (ownList !== undefined && own !== general) words[ownList].push(nameOf(kind))
    for (const list of Object.values(LISTS)) {
      const special = patterns.filter(([pattern, action]) => pattern !== '*' && action !== own && listOf(action) === list)
      if (special.length > 0) words[list].push(`${nameOf(kind)} (${special.map(([pattern]) => pattern).join(', ')})`)
    }
  }
  const rest = listOf(general)
  const isOnly = Object.values(words).every(({ length }) => length === 0)
  if (rest !== undefined) words[rest].unshift(isOnly ? 'everything' : 'everything but what is named here')
  return words
}

function listOf(action: unknown): keyof RuleWords | undefined {
  return action === 'allow' || action === 'ask' || action === 'deny' ? LISTS[action] : undefined
}

function nameOf(kind: string): string {
  return NAMES[kind] ?? kind
}
