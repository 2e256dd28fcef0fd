/** Formatters of what tools write: which would run here, which are missing. None is started. */
import { foundProgram } from '../../actors/acceptance/found-program.js'
import type { Effects } from '../../actors/effects.js'
import type { Client } from '../../client/client-types.js'
import { judgeFormatter } from '../../plugins/files/format/guards.js'
import { configuredFormatters, type Formatter } from '../../protocol/format/formatters.js'
import { failureText } from '../failure.js'
import type { Finding } from '../findings.js'

const CHECK = 'formatters'

type Machine = Pick<Effects, 'files' | 'processes'>

export async function inspectFormatters(client: Client, query: { readonly directory: string }, machine: Machine): Promise<Finding[]> {
  try {
    const formatters = configuredFormatters((await client.config.get(query))['formatter'])
    const standing = formatters.length === 0 ? [] : await client.plugins.files.formatters(query)
    const free = new Set(standing.filter(({ acceptance }) => acceptance?.message === null).map(({ id }) => id))
    return formatterFindings(await Promise.all(formatters.map((each) => stateOf(each, { ...query, isFree: free.has(each.id) }, machine))))
  } catch (error) {
    return [{ level: 'warning', check: CHECK, detail: failureText(error).split('\n')[0] ?? '' }]
  }
}

export interface FormatterState {
  readonly id: string
  /** For a file at the top of the directory. `missing`: it would run were its program there. */
  readonly state: 'runs' | 'missing' | 'unwanted' | 'refused'
  readonly reason?: string
}

async function stateOf(
  formatter: Formatter,
  { directory, isFree }: { readonly directory: string; readonly isFree: boolean },
  { files, processes }: Machine,
): Promise<FormatterState> {
  const { id, command, fault } = formatter
  if (fault !== undefined) return { id, state: 'refused', reason: `it ${fault}` }
  const verdict = await judgeFormatter(formatter, `${directory}/file`, files)
  if (verdict.type === 'refused' && !isFree) return { id, state: 'refused', reason: verdict.reason }
  if (verdict.type === 'unwanted') return { id, state: 'unwanted' }
  const [program = ''] = command
  if ((await foundProgram({ files, processes }, program, directory)) !== undefined) return { id, state: 'runs' }
  return { id, state: 'missing' }
}

/** Nothing where no formatter is switched on. What is missing keeps nobody from an answer. Pure. */
export function formatterFindings(states: readonly FormatterState[]): Finding[] {
  if (states.length === 0) return []
  const ids = (state: FormatterState['state']) => states.filter((each) => each.state === state).map(({ id }) => id)
  const told = [
    ...named('run after changes:', ids('runs')),
    ...named('not found outside of the project:', ids('missing')),
    ...named('not wanted by a file here:', ids('unwanted')),
  ]
  return [
    ...(told.length === 0 ? [] : [{ level: 'ok' as const, check: CHECK, detail: told.join('; ') }]),
    ...states.flatMap(({ id, state, reason }): Finding[] =>
      state === 'refused' ? [{ level: 'warning', check: CHECK, detail: `${id} does not run: ${reason ?? ''} (docs/formatters.md)` }] : [],
    ),
  ]
}

function named(label: string, ids: readonly string[]): readonly string[] {
  return ids.length === 0 ? [] : [`${label} ${ids.join(', ')}`]
}
