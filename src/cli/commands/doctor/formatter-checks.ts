/** Formatters of what tools write: which would run here, which wait for an act, which are missing. None is started. */
import { foundProgram } from '../../../actors/host/found-program.js'
import type { Effects } from '../../../ports/effects.js'
import type { Client } from '../../../published/client/client-types.js'
import type { FormatterStatus } from '../../../protocol/format/formatter-routes.js'
import { failureText } from '../../failure.js'
import type { Finding } from '../../findings.js'

const CHECK = 'formatters'

type Machine = Pick<Effects, 'files' | 'processes'>

export async function inspectFormatters(client: Client, query: { readonly directory: string }, machine: Machine): Promise<Finding[]> {
  try {
    const all = await client.plugins.files.formatters(query)
    const isThere = async ({ command: [program = ''] }: FormatterStatus) =>
      (await foundProgram(machine, program, query.directory)) !== undefined
    return formatterFindings(await Promise.all(all.map(async (each) => stateOf(each, await isThere(each)))))
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

/** Pure. */
export function stateOf(
  { id, wanted, problem, acceptance }: Pick<FormatterStatus, 'id' | 'wanted' | 'problem' | 'acceptance'>,
  isThere: boolean,
): FormatterState {
  if (acceptance === null) return { id, state: 'refused', reason: problem ?? '' }
  if (!wanted) return { id, state: 'unwanted' }
  if (acceptance.state === 'waiting') return { id, state: 'refused', reason: `${problem ?? ''}; "svc formatter accept ${id}" lets it` }
  if (acceptance.message !== null) return { id, state: 'refused', reason: acceptance.message }
  return { id, state: isThere ? 'runs' : 'missing' }
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
