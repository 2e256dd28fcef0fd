/**
 * Vectors of what was said, from the service that the environment names (subsystems i). Nothing is sent to anybody unless
 * `SVC_AGENT_EMBEDDINGS_MODEL` names a model.
 *
 * I1 The configured address is dialled as it is, and no redirect is followed: key and texts go nowhere else.
 * I2 One request at a time for what was said, off the hot path; at most `LIMITS.embeddings.hourly` characters an hour.
 * I3 A service that fails costs a search nothing but its meaning: words are searched alone, and the answer says so.
 */
import { chartOf } from '../../kernel/machine/chart.js'
import { createActor, fromPromise } from 'xstate'
import * as z from 'zod'
import type { NativeHost } from '../../ports/plugin.js'
import { embeddingsMachine, type Passed } from '../../machines/semantic/embeddings.machine.js'
import { createLane } from '../../kernel/lane.js'
import { ask, leave } from '../../kernel/looked.js'
import { reached } from '../../kernel/reached.js'
import { readAnswer } from '../../protocol/text/bounded-answer.js'
import { parseForeign } from '../../protocol/text/foreign-json.js'
import { LIMITS } from '../../protocol/limits.js'
import { createLru } from '../../kernel/lru.js'
import { timeLimit } from '../../kernel/patience.js'
import { wishOf } from '../../protocol/system/variables.js'
import type { EmbeddingState } from '../../protocol/session/search.js'
import { messageOf } from '../../protocol/message-of.js'

const { batch, timeout, patience, answer, hourly, hour, remembered, dimensions: MOST } = LIMITS.embeddings

const Answer = z.looseObject({
  data: z.array(z.looseObject({ index: z.number().int().min(0), embedding: z.array(z.number()).min(1).max(MOST) })),
})

export interface EmbeddingService {
  /** As configured: provider and model. */
  readonly spec: string
  readonly model: string
  readonly endpoint: string
  readonly key: string | undefined
  /** Asked for, where the model can answer shorter vectors. */
  readonly dimensions: number | undefined
}

/** What the environment names; undefined when it names none, a sentence for people when it cannot be used. */
export function embeddingService(env: Readonly<Record<string, string | undefined>>): EmbeddingService | string | undefined {
  const spec = env['SVC_AGENT_EMBEDDINGS_MODEL']?.trim() ?? ''
  const isDisabled = (env['SVC_AGENT_DISABLE_EMBEDDINGS']?.trim() ?? '') !== '' && wishOf(env, 'SVC_AGENT_DISABLE_EMBEDDINGS') !== false
  if (spec === '' || isDisabled) return undefined
  const [, provider = '', model = ''] = /^([^/]+)\/(.+)$/.exec(spec) ?? []
  if (model === '') return 'SVC_AGENT_EMBEDDINGS_MODEL is not of the form provider/model, so that searches go by words alone'
  const named = env['SVC_AGENT_EMBEDDINGS_URL']?.trim() || (provider === 'openai' ? 'https://api.openai.com/v1' : '')
  if (!URL.canParse(named) || !/^https?:$/.test(new URL(named).protocol))
    return 'SVC_AGENT_EMBEDDINGS_URL is no address of http or https, so that searches go by words alone'
  const endpoint = `${named.replace(/\/+$/, '').replace(/\/embeddings$/, '')}/embeddings`
  const key = env[`${provider.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY`]
  const dimensions = provider === 'openai' && model.startsWith('text-embedding-3') ? LIMITS.embeddings.asked : undefined
  return { spec, model, endpoint, key: key === '' ? undefined : key, dimensions }
}

export interface Embeddings {
  /** Looks whether anything has no vector yet, besides what others do. */
  catchUp(): void
  /** Of a query; undefined when there is none in time. */
  ofQuery(query: string): Promise<Float32Array | undefined>
  state(): EmbeddingState
  stop(): Promise<void>
}

export function createEmbeddings(
  { effects, search, actors }: Pick<NativeHost, 'effects' | 'search' | 'actors'>,
  service: EmbeddingService,
): Embeddings {
  const { clock, log } = effects
  const queries = createLru<string, Float32Array>(remembered)
  /** A pass that was cut off ends before the end of everything. */
  const passes = createLane({ most: 8 })
  let spent = { since: clock.now(), characters: 0 }

  /** I2. Whether so much may be sent now. */
  function maySend(characters: number): boolean {
    if (clock.now() - spent.since >= hour) spent = { since: clock.now(), characters: 0 }
    if (spent.characters + characters > hourly) return false
    spent.characters += characters
    return true
  }

  async function pass(signal: AbortSignal): Promise<Passed> {
    const why = search.useVectors(service.spec)
    if (why !== undefined) {
      if (stateNow() !== 'unavailable') log.warn('searches go by words alone: sqlite-vec cannot be used', { cause: why })
      return 'unavailable'
    }
    for (;;) {
      const texts = search.unembedded(batch)
      if (texts.length === 0) return 'ready'
      if (!maySend(texts.reduce((sum, { text }) => sum + text.length, 0))) return 'behind'
      const input = texts.map(({ text }) => text)
      const vectors = await vectorsOf(effects, service, input, { most: timeout, signal })
      search.putVectors(texts.flatMap(({ key }, at) => (vectors[at] === undefined ? [] : [{ key, vector: vectors[at] }])))
    }
  }

  const logic = chartOf(embeddingsMachine).provide({
    actors: {
      pass: fromPromise(({ signal }) =>
        passes.run(async () => {
          try {
            return await pass(signal)
          } catch (error) {
            if (!signal.aborted) log.warn('what was said could not be given vectors', { cause: reasonOf(error) })
            throw error
          }
        }),
      ),
    },
  })
  const ref = createActor(logic, { id: 'embeddings', clock })
  const stateNow = () => ref.getSnapshot().context.state
  actors.add(ref, 'embeddings')
  ref.subscribe({ error: (error) => log.error('what is said is given no vectors any more', { cause: String(error) }) })
  ref.start()

  return {
    catchUp: () => ask(ref),
    async ofQuery(query) {
      if (stateNow() === 'unavailable' || stateNow() === 'failing') return undefined // I3
      const known = queries.get(query)
      if (known !== undefined) return known
      if (!maySend(query.length)) return undefined
      const over = new AbortController()
      void reached(ref, undefined, over.signal).then(() => over.abort())
      try {
        const [vector] = await vectorsOf(effects, service, [query], { most: patience, signal: over.signal })
        if (vector !== undefined) queries.set(query, vector)
        return vector
      } catch (error) {
        log.debug('a query was given no vector', { cause: reasonOf(error) })
        return undefined
      } finally {
        over.abort()
      }
    },
    state: stateNow,
    async stop() {
      leave(ref)
      await passes.run(() => Promise.resolve())
    },
  }
}

/** What the service answers within `most` ms. */
async function vectorsOf(
  { clock, fetch }: Pick<NativeHost['effects'], 'clock' | 'fetch'>,
  service: EmbeddingService,
  input: readonly string[],
  { most, signal }: { readonly most: number; readonly signal: AbortSignal },
): Promise<Float32Array[]> {
  const limit = timeLimit(clock, most, new Error('it took too long'))
  try {
    const response = await fetch(service.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(service.key !== undefined && { authorization: `Bearer ${service.key}` }) },
      body: JSON.stringify({
        model: service.model,
        input,
        encoding_format: 'float',
        ...(service.dimensions !== undefined && { dimensions: service.dimensions }),
      }),
      redirect: 'manual', // I1
      signal: AbortSignal.any([signal, limit.signal]),
    })
    const { data } = Answer.parse(parseForeign(await readAnswer(response, answer)))
    const vectors = data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => Float32Array.from(embedding))
    if (vectors.length !== input.length) throw new Error(`${vectors.length} vectors for ${input.length} texts`)
    return vectors
  } finally {
    limit.clear()
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError || error instanceof SyntaxError) return 'the answer of the service is not understood'
  return messageOf(error)
}
