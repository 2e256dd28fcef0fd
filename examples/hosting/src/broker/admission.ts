/** Who may speak to which worker, and whether it is there. */
import type { IncomingMessage } from 'node:http'
import type { BindingsCache } from '../controller/bindings-cache.js'
import { seconds } from '../controller/launches.js'
import type { Workers } from '../controller/worker-client.js'
import { bearerOf } from '../credentials/bearers.js'
import type { Grant } from '../credentials/grant.js'
import type { Sealed } from '../credentials/sealed.js'
import { sameOwner, type WorkspaceKey } from '../records/machines.js'
import { type BrokerError, ERRORS } from './errors.js'
import type { Route, Routes } from './routes.js'
import type { Target } from './target.js'

export interface Admitted {
  readonly route: Route
  /** What the worker is told of the caller; undefined with a ticket. */
  readonly token: string | undefined
}

export interface AdmissionParts {
  readonly grants: Sealed<Grant>
  readonly cache: BindingsCache
  readonly routes: Routes
  readonly workers: Workers
  /** Wakes the worker of a workspace; resolves when it is awake, or undefined when that takes too long. */
  readonly wake: (key: WorkspaceKey) => Promise<Route | undefined>
}

export interface Admission {
  /** Answers at once where nothing has to be asked for. */
  admit(request: IncomingMessage, target: Target): Admitted | BrokerError | Promise<Admitted | BrokerError>
}

/** Seconds before its end from which a token is made anew, so that what is begun with it does not end at once. */
const FRESH = 240
const REMEMBERED = 4096

export function createAdmission({ grants, cache, routes, workers, wake }: AdmissionParts): Admission {
  const tokens = new Map<Grant, { readonly token: string; readonly until: number }>()

  function tokenOf(grant: Grant, { bound }: Route): string {
    const now = seconds()
    const kept = tokens.get(grant)
    // The grant may end before: then its last token lasts as long as it does.
    if (kept !== undefined && kept.until > Math.min(now + FRESH, grant.expiresAt - 1)) return kept.token
    const token = workers.tokenFor(bound.binding.allocation, grant, grant.expiresAt)
    if (tokens.size >= REMEMBERED) tokens.clear()
    tokens.set(grant, { token, until: Math.min(now + 300, grant.expiresAt) })
    return token
  }

  function admitted(route: Route | undefined, grant: Grant | undefined): Admitted | BrokerError {
    if (route === undefined) return ERRORS.asleep
    if (grant === undefined) return { route, token: undefined }
    // It may have been replaced while it was waited for.
    if (route.bound.binding.allocation.generation !== grant.generation) return ERRORS.token
    return { route, token: tokenOf(grant, route) }
  }

  async function slowly({ key }: Target, grant: Grant | undefined): Promise<Admitted | BrokerError> {
    const bound = await cache.get(key)
    if (bound === undefined || bound.binding.retired) return ERRORS.token
    if (grant !== undefined && bound.binding.allocation.generation !== grant.generation) return ERRORS.token
    // A ticket is of a terminal that lives: it wakes nobody.
    return admitted((await routes.of(bound)) ?? (grant === undefined ? undefined : await wake(key)), grant)
  }

  return {
    admit(request, target) {
      const bearer = bearerOf(request)
      const grant = bearer === undefined ? undefined : grants.open(bearer, seconds())
      if (grant === undefined && !(target.hasTicket && bearer === undefined)) return ERRORS.token
      if (grant !== undefined && !sameOwner(grant.owner, target.key)) return ERRORS.token
      const bound = cache.known(target.key)
      const route = bound === undefined ? undefined : routes.of(bound)
      if (route === undefined || route instanceof Promise) return slowly(target, grant)
      return admitted(route, grant)
    },
  }
}
