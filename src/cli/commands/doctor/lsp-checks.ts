/** Language servers that fit the files of the directory: which could serve, which wait for an act, which are missing, which are broken. None is started. */
import type { Client } from '../../../published/client/client-types.js'
import type { LspStatus } from '../../../protocol/lsp/lsp.js'
import { failureText } from '../../failure.js'
import type { Finding } from '../../findings.js'

const CHECK = 'language servers'

export async function inspectLanguageServers(client: Client, query: { readonly directory: string }): Promise<Finding[]> {
  try {
    return lspFindings(await client.plugins.lsp.status(query))
  } catch (error) {
    return [{ level: 'warning', check: CHECK, detail: failureText(error).split('\n')[0] ?? '' }]
  }
}

const isWaiting = ({ acceptance }: Pick<LspStatus, 'acceptance'>) => acceptance?.state === 'waiting'

type Fitting = Pick<LspStatus, 'id' | 'status' | 'command' | 'command_source' | 'detected' | 'acceptance'>

/** One that is missing keeps nobody from an answer, and may not be wanted: it is named and is no warning. Pure. */
export function lspFindings(fitting: readonly Fitting[]): Finding[] {
  if (fitting.length === 0) return []
  const isMissing = ({ status, detected }: Fitting) => status === 'error' && detected.message?.endsWith(NOT_FOUND) === true
  const missing = fitting.filter(isMissing)
  const told = [
    ...named(
      'running:',
      fitting.filter(({ status }) => status === 'connected'),
    ),
    ...named(
      'start when they are needed:',
      fitting.filter(({ status }) => status === 'available'),
    ),
    ...named('would help, and not installed:', missing),
  ]
  const waiting = fitting.filter(isWaiting)
  const [first] = waiting
  if (first !== undefined)
    told.push(...named('wait until somebody lets them load code of this workspace:', waiting), `"svc lsp accept ${first.id}" does`)
  const broken = fitting.filter((each) => each.status === 'error' && !isMissing(each) && !isWaiting(each))
  return [
    ...(told.length === 0 ? [] : [{ level: 'ok' as const, check: CHECK, detail: told.join('; ') }]),
    ...broken.map(
      ({ id, detected }): Finding => ({
        level: 'warning',
        check: CHECK,
        detail: `${id}: ${detected.message ?? 'it does not work'} (docs/language-servers.md)`,
      }),
    ),
  ]
}

const SHOWN = 5

function named(label: string, some: readonly Fitting[]): readonly string[] {
  if (some.length === 0) return []
  const shown = some.slice(0, SHOWN).map(({ id, command: [program = id] }) => (program.startsWith(id) ? program : `${id} (${program})`))
  return [`${label} ${shown.join(', ')}${some.length > SHOWN ? ` and ${some.length - SHOWN} more` : ''}`]
}

const NOT_FOUND = 'was not found.'
