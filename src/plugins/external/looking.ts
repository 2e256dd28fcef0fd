/** An agent is started, asked something before it is prompted, and ended (subsystems l.2). */
import { chartOf } from '../../kernel/machine/chart.js'
import { createActor, fromPromise, toPromise } from 'xstate'
import { isActive } from '../../kernel/reached.js'
import { type PreviewInput, previewMachine } from '../../machines/external/external-preview.machine.js'
import { SvcError } from '../../protocol/errors.js'
import type { ExternalProvider } from '../../protocol/session/external-provider.js'
import type { NativeHost } from '../../ports/plugin.js'
import type { Adapter } from './adapters.js'
import { openAgent } from './agent-program.js'
import { initialize } from './capabilities.js'
import { type AgentLink, openAgentLink } from './link.js'

/** Which agent, and where. */
export interface Looked {
  /** Two looks of one key do not run at once. */
  readonly key: string
  readonly provider: ExternalProvider
  readonly directory: string
  readonly adapter: Adapter
  readonly env: Readonly<Record<string, string>>
}

interface Steps {
  /** What it tells meanwhile. */
  hear?(params: unknown): void
  /** `told` is its answer to `initialize`. */
  open(link: AgentLink, told: Readonly<Record<string, unknown>>): Promise<void>
  choose?(link: AgentLink): Promise<void>
}

/** Resolves when the agent is gone. Throws the `SvcError` of a step, else `external.preview_failed` with what the agent `could not`. */
export async function look(
  host: Pick<NativeHost, 'effects' | 'actors' | 'stopping' | 'programs' | 'sandbox'>,
  { key, provider, directory, adapter, env }: Looked,
  steps: Steps,
  couldNot: string,
): Promise<void> {
  const { clock, log } = host.effects
  const { actors, stopping } = host
  let opening: Promise<AgentLink> | undefined
  let link: AgentLink | undefined
  let told: Readonly<Record<string, unknown>> = {}
  let refused: SvcError | undefined

  const step = (work: (link: AgentLink) => Promise<void> | undefined) =>
    fromPromise<void, PreviewInput>(async () => {
      if (link === undefined) throw new Error('it has not begun')
      try {
        await work(link)
      } catch (error) {
        if (error instanceof SvcError) refused = error
        throw error
      }
    })

  const logic = chartOf(previewMachine).provide({
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
            if (isActive(ref)) ref.send({ type: 'agent.ended', how })
          },
          onUpdate: (params) => steps.hear?.(params),
        })
        link = await opening
        told = await initialize(link, false)
      }),
      open: step((open) => steps.open(open, told)),
      choose: step((open) => steps.choose?.(open)),
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
    throw new SvcError('external.preview_failed', `The agent "${provider}" could not say ${couldNot}: ${failure}.`, { provider })
}
