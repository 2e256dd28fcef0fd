/** What an agent says that it can, in its answer to `initialize`. Pure. */
import * as z from 'zod'

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
