/** One look at an external agent, with its effects (subsystems l.2). */
import { createActor, fromPromise, toPromise } from 'xstate'
import { previewMachine } from '../../machines/external/external-preview.machine.js'
import { SvcError } from '../../protocol/errors.js'
import type { ExternalOptionsPreview } from '../../protocol/external/external.js'
import type { ExternalProvider } from '../../protocol/external/external-provider.js'
import { isRecord } from '../../protocol/text/json.js'
import type { NativeHost } from '../../ports/plugin.js'
import type { Adapter } from './adapters.js'
import { openAgent } from './agent-program.js'
import { type AgentLink, openAgentLink } from './link.js'
import { choose } from './choosing.js'
import { commandsIn, type Offered, offeredBy, offeredIn, shownOptions } from './options.js'

const VERSION = 1

export interface Look {
  readonly key: string
  readonly provider: ExternalProvider
  readonly directory: string
  readonly adapter: Adapter
  readonly env: Readonly<Record<string, string>>
  readonly selected: Readonly<Record<string, string>>
}

/** Answers what may be chosen. Throws `request.invalid` for what is not offered, else `external.preview_failed`. */
export async function lookAt(
  host: Pick<NativeHost, 'effects' | 'actors' | 'stopping' | 'programs'>,
  { key, provider, directory, adapter, env, selected }: Look,
): Promise<ExternalOptionsPreview> {
  const { clock, log } = host.effects
  const { actors, stopping } = host
  let opening: Promise<AgentLink> | undefined
  let link: AgentLink | undefined
  let sessionId = ''
  let offered: Offered = { options: [], modeFallback: false }
  let commands: ExternalOptionsPreview['availableCommands'] = []
  let refused: SvcError | undefined

  const opened = (): AgentLink => {
    if (link === undefined) throw new Error('it has not begun')
    return link
  }

  const logic = previewMachine.provide({
    actors: {
      begin: fromPromise(async () => {
        opening = openAgentLink({
          open: (streams) => openAgent(host, { adapter, provider, directory, env }, streams),
          onRequest(method) {
            ref.send({ type: 'agent.asked', method })
            return undefined
          },
          onEnd(how, said) {
            log.debug('an external agent has ended', { provider, how, said })
            ref.send({ type: 'agent.ended', how })
          },
          onUpdate(params) {
            const update = updateOf(params, sessionId)
            commands = commandsIn(update) ?? commands
            if (update?.['sessionUpdate'] === 'config_option_update' && sessionId !== '') offered = offeredIn(update['configOptions'])
          },
        })
        link = await opening
        const answer = await link.request('initialize', {
          protocolVersion: VERSION,
          clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
          clientInfo: { name: 'svc', version: '0' },
        })
        if (!isRecord(answer) || answer['protocolVersion'] !== VERSION)
          throw new Error(`it does not speak version ${VERSION} of the protocol`)
      }),
      open: fromPromise(async () => {
        const { sessionId: id, ...first } = offeredBy(await opened().request('session/new', { cwd: directory, mcpServers: [] }))
        sessionId = id
        offered = first
      }),
      choose: fromPromise(async () => {
        try {
          offered = await choose(opened(), sessionId, offered, selected)
        } catch (error) {
          if (error instanceof SvcError) refused = error
          throw error
        }
      }),
      // What was still being started when it had to end is ended once it is there.
      end: fromPromise(async () => (await opening?.catch(() => undefined))?.end()),
    },
  })
  const ref = createActor(logic, { id: `external-preview:${key}`, input: { key }, clock })
  actors.add(ref, 'external-preview')
  const stop = () => ref.send({ type: 'stop.requested' })
  stopping.addEventListener('abort', stop)
  const ended = toPromise(ref).finally(() => stopping.removeEventListener('abort', stop))
  ref.start()
  const { failure } = await ended
  if (refused !== undefined) throw refused
  if (failure !== undefined)
    throw new SvcError('external.preview_failed', `The agent "${provider}" could not say what may be chosen: ${failure}.`, { provider })
  return { provider, ...shownOptions(offered), externalSessionId: null, availableCommands: commands }
}

/** What is told of its own session; before that has a name, of any. */
function updateOf(params: unknown, sessionId: string): Record<string, unknown> | undefined {
  if (!isRecord(params) || !isRecord(params['update'])) return undefined
  return sessionId === '' || params['sessionId'] === sessionId ? params['update'] : undefined
}
