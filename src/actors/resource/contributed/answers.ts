/**
 * What the services of plugins answer: agents, commands, skills, system context, settings (plugin-protocol §4.7).
 *
 * I1 A service is waited for at most `serviceWait`; one that fails or is late leaves the others.
 * I2 Answers are kept for each published service, so a new generation is always asked; an answer that is older than
 *    `serviceAge` still serves while it is asked for anew (unless it must be fresh), and the last good one serves while the service fails.
 * I3 Without services of a kind nothing is done; lists are the same objects until an answer changes.
 */
import { withinTime } from '../../../kernel/patience.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { ServiceRequest } from '../../../protocol/plugin/plugin-requests.js'
import type { Effects } from '../../../ports/effects.js'
import { createLru, type Lru } from '../../../kernel/lru.js'
import type { Service } from '../../../ports/contributions.js'
import type { Registered, RegistryView } from '../../../ports/view.js'

const { serviceWait, serviceAge } = LIMITS.plugins
/** Directories whose answers are kept: of one service, and as lists. */
const DIRECTORIES = 64
const LISTS = 320

interface ServiceAnswer<Answer> {
  readonly pluginId: string
  readonly serviceId: string
  readonly answer: Answer
}

type ServiceKind = 'agents' | 'commands' | 'skills' | 'systemContext' | 'config'
type AnswerOf<Kind extends ServiceKind> = Awaited<ReturnType<RegistryView[Kind][number]['contribution']['call']>>
export type Answers<Kind extends ServiceKind> = readonly ServiceAnswer<AnswerOf<Kind>>[]

export interface ServiceAnswers {
  /**
   * Answers of every service of a kind that works, higher priority first. The same list until something was asked anew; `viewer` names who
   * sees the view, where that is not everybody in the directory.
   */
  of<Kind extends ServiceKind>(view: RegistryView, kind: Kind, directory: string, viewer?: string): Promise<Answers<Kind>>
  /** As `of`, without waiting: what was answered so far, nothing at first. */
  latest<Kind extends ServiceKind>(view: RegistryView, kind: Kind, directory: string): Answers<Kind>
}

interface Kept {
  answer: ServiceAnswer<unknown> | undefined
  /** Settles when the question under way is answered; never rejects. */
  asked: Promise<void> | undefined
  /** Monotonic time of the last outcome. */
  at: number
}

type Asked = Registered<Service<(request: ServiceRequest) => Promise<unknown>>>
type List = readonly ServiceAnswer<unknown>[]
const NOTHING: List = []

export function createServiceAnswers(effects: Pick<Effects, 'clock' | 'log'>): ServiceAnswers {
  const byService = new WeakMap<object, Lru<string, Kept>>()
  const lists = createLru<string, List>(LISTS)

  const keptOf = ({ contribution }: Asked, directory: string): Kept => {
    const all = byService.get(contribution) ?? createLru<string, Kept>(DIRECTORIES)
    byService.set(contribution, all)
    const kept = all.get(directory) ?? { answer: undefined, asked: undefined, at: Number.NEGATIVE_INFINITY }
    all.set(directory, kept)
    return kept
  }

  const ask = async (kept: Kept, service: Asked, directory: string): Promise<void> => {
    const { pluginId, contribution } = service
    const request: ServiceRequest = { workspaceId: directory, directory, options: {} }
    try {
      const call = service.use(() => contribution.call(request))
      const answer = await withinTime(effects.clock, call, serviceWait, `it did not answer within ${serviceWait} ms`)
      if (kept.answer === undefined || !isSame(kept.answer.answer, answer)) kept.answer = { pluginId, serviceId: contribution.id, answer }
    } catch (error) {
      effects.log.warn('a service of a plugin failed', { pluginId, serviceId: contribution.id, directory, cause: String(error) })
    }
    kept.at = effects.clock.monotonic()
  }

  /** Asks what is old, unknown or must be fresh; answers who is waited for: who has never answered, and who must be fresh. */
  const refresh = (services: readonly Asked[], directory: string): readonly Promise<void>[] => {
    const now = effects.clock.monotonic()
    return services.flatMap((service) => {
      const kept = keptOf(service, directory)
      const isAwaited = kept.at === Number.NEGATIVE_INFINITY || service.contribution.isFresh === true
      if (now - kept.at >= serviceAge || service.contribution.isFresh === true) {
        kept.asked ??= ask(kept, service, directory).finally(() => {
          kept.asked = undefined
        })
      }
      return isAwaited && kept.asked !== undefined ? [kept.asked] : []
    })
  }

  const listOf = (services: readonly Asked[], kind: ServiceKind, directory: string, viewer = ''): List => {
    const list = services.flatMap((service) => keptOf(service, directory).answer ?? [])
    const key = `${kind}\0${directory}\0${viewer}`
    const last = lists.get(key) ?? NOTHING
    if (last.length === list.length && last.every((answer, index) => answer === list[index])) return last
    lists.set(key, list)
    return list
  }

  // A list holds answers of its kind alone, because its key names the kind.
  return {
    async of<Kind extends ServiceKind>(view: RegistryView, kind: Kind, directory: string, viewer?: string) {
      const services: readonly Asked[] = view[kind]
      if (services.length === 0) return NOTHING as Answers<Kind>
      await Promise.all(refresh(services, directory))
      return listOf(services, kind, directory, viewer) as Answers<Kind>
    },
    latest<Kind extends ServiceKind>(view: RegistryView, kind: Kind, directory: string) {
      const services: readonly Asked[] = view[kind]
      if (services.length === 0) return NOTHING as Answers<Kind>
      void refresh(services, directory)
      return listOf(services, kind, directory) as Answers<Kind>
    },
  }
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
