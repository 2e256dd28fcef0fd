/** What may be chosen of an external agent: one look at it (subsystems l.2). */
import { sleep } from '../../kernel/patience.js'
import { LIMITS } from '../../protocol/limits.js'
import type { ExternalOptionsPreview } from '../../protocol/external/external.js'
import { isRecord } from '../../protocol/text/json.js'
import type { NativeHost } from '../../ports/plugin.js'
import { choose } from './choosing.js'
import { look, type Looked } from './looking.js'
import { commandsIn, type Offered, offeredBy, offeredIn, shownOptions } from './options.js'

export interface Look extends Looked {
  readonly selected: Readonly<Record<string, string>>
}

/** Answers what may be chosen. Throws `request.invalid` for what is not offered, else `external.preview_failed`. */
export async function lookAt(
  host: Pick<NativeHost, 'effects' | 'actors' | 'stopping' | 'programs' | 'sandbox'>,
  { selected, ...looked }: Look,
): Promise<ExternalOptionsPreview> {
  const { provider, directory } = looked
  let sessionId = ''
  let offered: Offered = { options: [], modeFallback: false }
  let commands: ExternalOptionsPreview['availableCommands'] = []
  const toldCommands = new AbortController()
  const steps: Parameters<typeof look>[2] = {
    hear(params) {
      const update = updateOf(params, sessionId)
      const told = commandsIn(update)
      commands = told ?? commands
      if (told !== undefined) toldCommands.abort()
      if (update?.['sessionUpdate'] === 'config_option_update' && sessionId !== '') offered = offeredIn(update['configOptions'])
    },
    async open(link) {
      const { sessionId: id, ...first } = offeredBy(await link.request('session/new', { cwd: directory, mcpServers: [] }))
      sessionId = id
      offered = first
      // Agents tell of their commands after the session is there, if they tell of any.
      await sleep(host.effects.clock, LIMITS.external.commandsWait, AbortSignal.any([toldCommands.signal, host.stopping]))
    },
    async choose(link) {
      offered = await choose(link, sessionId, offered, selected)
    },
  }
  await look(host, looked, steps, 'what may be chosen')
  return { provider, ...shownOptions(offered), externalSessionId: null, availableCommands: commands }
}

/** What is told of its own session; before that has a name, of any. */
function updateOf(params: unknown, sessionId: string): Record<string, unknown> | undefined {
  if (!isRecord(params) || !isRecord(params['update'])) return undefined
  return sessionId === '' || params['sessionId'] === sessionId ? params['update'] : undefined
}
