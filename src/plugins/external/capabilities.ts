/** What an agent and we tell each other that we can. */
import * as z from 'zod'
import { isRecord } from '../../protocol/text/json.js'
import type { AgentLink } from './link.js'

const VERSION = 1

const Told = z.looseObject({
  agentCapabilities: z
    .looseObject({
      loadSession: z.boolean().optional(),
      sessionCapabilities: z.looseObject({ resume: z.unknown(), list: z.unknown() }).partial().nullish(),
    })
    .nullish(),
})

/** How it opens a session again that it had before; what repeats nothing comes first. */
export function canLoad(told: unknown): 'session/resume' | 'session/load' | undefined {
  const { loadSession, sessionCapabilities } = Told.safeParse(told).data?.agentCapabilities ?? {}
  if (sessionCapabilities?.resume != null) return 'session/resume'
  return loadSession === true ? 'session/load' : undefined
}

export function canList(told: unknown): boolean {
  return Told.safeParse(told).data?.agentCapabilities?.sessionCapabilities?.list != null
}

/** Agrees on the protocol; answers what the agent told. Throws a sentence. `serves`: it may ask for files and terminals, and tell of its subagents. */
export async function initialize(link: AgentLink, serves: boolean): Promise<Readonly<Record<string, unknown>>> {
  const told = await link.request('initialize', {
    protocolVersion: VERSION,
    clientCapabilities: { fs: { readTextFile: serves, writeTextFile: serves }, terminal: serves, ...(serves && { subagents: {} }) },
    clientInfo: { name: 'svc', version: '0' },
  })
  if (isRecord(told) && told['protocolVersion'] === VERSION) return told
  throw new Error(`it does not speak version ${VERSION} of the protocol`)
}
